import { dayMs, hourMs, minuteMs } from "../domain/values/times.ts";

/** No line of help is longer, so that it fits beside other windows. */
export const lineWidthMax = 100;

/** A wider first column has a line of its own. */
const firstWidthMax = 36;

/** Breaks a text between words, or between the given parts. Later lines start with the indent. */
export function wrap(text: string | readonly string[], indent = "", first = ""): string {
  const words = typeof text === "string" ? text.split(" ") : text;
  const lines: string[] = [];
  let line = first + words[0];
  for (const word of words.slice(1)) {
    if (line.length + 1 + word.length <= lineWidthMax) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join("\n");
}

/** Rows of two columns, indented. The second column is wrapped. */
export function columns(rows: readonly (readonly string[])[], widthMin = 0): string {
  const widths = rows.map(([first]) => first!.length).filter((width) => width <= firstWidthMax);
  const width = Math.max(widthMin, ...widths);
  const indent = " ".repeat(2 + width + 2);
  return rows
    .map(([first, second]) =>
      first!.length > width
        ? `  ${first}\n${wrap(second!, indent, indent)}`
        : wrap(second!, indent, `  ${first!.padEnd(width)}  `),
    )
    .join("\n");
}

/** A number with its noun: "1 pet", "2 pets". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const units = [
  { name: "d", ms: dayMs },
  { name: "h", ms: hourMs },
  { name: "min", ms: minuteMs },
] as const;

/** A duration for people: "0.4 s", "12 s", "5 min 3 s", "2 d 4 h". */
export function elapsedText(elapsedMs: number): string {
  const first = units.findIndex(({ ms }) => elapsedMs >= ms);
  if (first < 0) return `${(elapsedMs / 1_000).toFixed(elapsedMs < 10_000 ? 1 : 0)} s`;
  const { name, ms } = units[first]!;
  const next = units[first + 1] ?? { name: "s", ms: 1_000 };
  const rest = Math.floor((elapsedMs % ms) / next.ms);
  return `${Math.floor(elapsedMs / ms)} ${name}${rest > 0 ? ` ${rest} ${next.name}` : ""}`;
}

/** Removes the Markdown that the generated tables of the documentation need. */
export function plain(text: string): string {
  return text.replaceAll("`", "");
}
