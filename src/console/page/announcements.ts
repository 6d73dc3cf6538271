import { signal } from "@preact/signals";

/** What a screen reader says next. */
export const announcement = signal("");

/** Says a text to people who use a screen reader. */
export function announce(text: string): void {
  // A live region is read only when its text changes.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}
