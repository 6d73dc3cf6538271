const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
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
