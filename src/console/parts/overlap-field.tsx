const overlaps = [
  ["0", "Not at all"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
] as const;

interface Props {
  /** For example "How long the old key still works". */
  readonly label: string;
  /** False if the old secret is needed for a while. */
  readonly canEndAtOnce: boolean;
}

/** How long an old secret works beside the new one. */
export function OverlapField({ label, canEndAtOnce }: Props) {
  return (
    <div class="field">
      <label for="overlap">{label}</label>
      <select id="overlap" name="overlap" class="select">
        {overlaps.slice(canEndAtOnce ? 0 : 1).map(([seconds, text]) => (
          <option key={seconds} value={seconds} selected={seconds === "86400"}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function readOverlap(form: FormData): { readonly overlapSeconds: number } {
  return { overlapSeconds: Number(form.get("overlap")) };
}
