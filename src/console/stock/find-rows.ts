import { stop } from "../parts/question.tsx";
import { current, loadState, table } from "./state.ts";
import { foldCase } from "./table.ts";

const suggestionsMax = 20;

/** The first rows that contain the text, the most recently changed ones first. */
export function findRows(text: string): readonly number[] {
  const { entries } = current.value;
  const { rowsById, searchTexts, isRemoved, versions } = entries;
  const scanned = entries.findScanned(text);
  const wanted = foldCase(text.trim());
  const newest: number[] = [];
  for (const row of rowsById) {
    if (isRemoved[row]) continue;
    if (row !== scanned && !searchTexts[row]!.includes(wanted)) continue;
    const isFull = newest.length === suggestionsMax;
    if (isFull && versions[newest.at(-1)!]! > versions[row]!) continue;
    // Sorting all 100,000 pets would take too long while changes arrive.
    const place = newest.findIndex((other) => versions[other]! < versions[row]!);
    newest.splice(place < 0 ? newest.length : place, 0, row);
    if (isFull) newest.pop();
  }
  return newest;
}

/** The row of the pet with this id or barcode. Stops with a sound if there is none. */
export function findOrStop(code: string): number | undefined {
  const row = table.value.findScanned(code);
  const isReady = loadState.value.kind === "ready";
  const message = isReady ? `No pet has the id or barcode ${code}.` : "The pets are still loading.";
  if (row === undefined) void stop(message);
  return row;
}
