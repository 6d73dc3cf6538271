/** A word of the API as a label, for example "Available" for the status "available". */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
