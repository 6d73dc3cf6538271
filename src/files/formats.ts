/** The formats of files with pets or orders. */
export const formats = ["csv", "ndjson", "json"] as const;
export type Format = (typeof formats)[number];

export function findFormat(name: string): Format | undefined {
  return formats.find((format) => format === name);
}
