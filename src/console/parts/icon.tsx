/** Paths of icons on a grid of 16 by 16, drawn with lines. */
const icons = {
  overview: "M2.5 9.5h4v4h-4zm7-7h4v4h-4zm-7 0h4v4h-4zm7 7h4v4h-4z",
  stock: "M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11zm0 0L8 7.5m0 0L13.5 5M8 7.5v6",
  activity: "M1.5 8.5h3l2-5.5 3.5 10 2-4.5h2.5",
  history: "M2.6 9.5A5.5 5.5 0 1 0 3 5.8M2.5 3v3h3M8 5v3.2l2.2 1.3",
  import: "M8 2.5v7m0 0L5 6.7m3 2.8 3-2.8M2.5 10.5v3h11v-3",
  orders: "M4 2.5h8v11l-2-1.4-2 1.4-2-1.4-2 1.4zm2.3 3.3h3.4M6.3 8.5h3.4",
  keys: "M10.5 8.5a3 3 0 1 0-2.9-2.2L2 11.9V14h2.1l.9-.9v-1.4h1.4l2.1-2.1a3 3 0 0 0 2 .3",
  webhooks: "M6.5 7.2 4.7 10a2 2 0 1 0 2 2h4.6M8 4.5 10 8a2 2 0 1 1-.2 3.6M9.8 4A2 2 0 1 0 6.5 7",
  backups:
    "M3 4.2c0-2.3 10-2.3 10 0s-10 2.3-10 0zm0 0v7.6c0 2.3 10 2.3 10 0V4.2M3 8c0 2.3 10 2.3 10 0",
  audit: "M4.5 2.5h7v11h-7zm2.2 3h2.6M6.7 8h2.6m-2.6 2.5h1.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  search: "M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10m3.6-1.4L14 14",
  theme: "M13.5 9.6A5.9 5.9 0 0 1 6.4 2.5a5.9 5.9 0 1 0 7.1 7.1",
  close: "m4 4 8 8m0-8-8 8",
  check: "m3 8.5 3.2 3.2L13 4.8",
  plus: "M8 3v10M3 8h10",
  edit: "M10.8 2.8 13.2 5.2 5.5 12.9 2.5 13.5 3.1 10.5z",
  undo: "M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5 6 3.5M3 6.5l3 3",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  up: "M8 13V3m0 0L4 7m4-4 4 4",
  down: "M8 3v10m0 0 4-4m-4 4L4 9",
  count: "M2.5 3v10M5 3v10M7.5 3v7m2.5-7v7m3.5-7v10M7.5 12.5H10",
  print: "M4.5 6V2.5h7V6m-7 5.5h-2V6h11v5.5h-2m-7-2h7v4h-7z",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.3m0 1.7v.2",
  help: "M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1m0 2.3v.2M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13",
  "sign-out": "M6.5 2.5h-4v11h4M6 8h7.5m0 0-3-3m3 3-3 3",
} as const;

export type IconName = keyof typeof icons;

/** An icon beside a text, or in a button with a label of its own: screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={icons[name]} />
    </svg>
  );
}
