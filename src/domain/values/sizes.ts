const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const units = ["bytes", "kB", "MB", "GB", "TB"];

/** For example 3.4 MB. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${short.format(bytes / 1_000 ** power)} ${units[power]}`;
}
