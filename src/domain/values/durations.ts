const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a duration such as 30m, 24h or 7d, in milliseconds. Returns undefined for another text. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, count, unit] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit!]!;
}
