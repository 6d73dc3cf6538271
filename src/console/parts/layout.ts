import { computed, signal } from "@preact/signals";

/** On a phone, a row has two lines, and an edit opens a sheet. The style sheet has the same width. */
const narrow = window.matchMedia("(max-width: 44rem)");

export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});

/** In pixels, as in the style sheet. All rows have the same height, so positions can be computed. */
export const rowHeight = computed(() => (isNarrow.value ? 60 : 40));
export const headerHeight = 40;
