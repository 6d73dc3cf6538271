/** What TypeScript does not declare yet: JSON that keeps the digits of a number as they were written. */
interface JSON {
  // biome-ignore lint/suspicious/noExplicitAny: as in the declaration that this one adds to
  parse(text: string, reviver: (key: string, value: any, context: { source?: string }) => any): any;
  /** Written by JSON.stringify as it is. */
  rawJSON(text: string): unknown;
}
