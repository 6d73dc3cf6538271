import type { Signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { isAsking, playStopSound, stop } from "./question.tsx";
import { listClosed, Scans } from "./scans.ts";

// Takes what a scanner types from whatever has the focus, and gives it to the view that is shown. The keys do
// at first what they do for a person, because only the last one tells a scan. Then all that is taken back.

type Take = (code: string) => unknown;
type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** For a field that takes a scan as its text. */
export const barcodeField = { "data-barcode": true };
const fields =
  "input:not([type=checkbox], [type=radio], [type=file], [type=range]), textarea, select";

const scans = new Scans();
/** What the fields contained before the scan. */
const before = new Map<Field, string>();
let origin: Element | undefined;
/** What was closed when the scan began. */
let closed: readonly Signal<unknown>[] = [];
let taken: Take | undefined;

/** Whether a text and its Enter came at the speed of a scanner, for codes as short as a quantity. */
export function wasScanned(text: string): boolean {
  return text !== "" && scans.ended === text;
}

/** Gives the scans to a view, as long as it is shown and `take` is there. */
export function useScans(take: Take | undefined): void {
  useLayoutEffect(() => {
    if (!take) return undefined;
    taken = take;
    return () => {
      if (taken === take) taken = undefined;
    };
  });
}

/** Listens before all fields. `takeElsewhere` gets the scans that no view takes. */
export function startScanner(takeElsewhere: Take): () => void {
  const press = (event: KeyboardEvent) => {
    const target = event.target as Element;
    // A scanner may type a key of an operator, which is none of our barcodes.
    if (event.isComposing || target.matches("[type=password]")) return;
    const part = scans.press(event);
    if (part === "first") begin(target);
    if (part === "first" || part === "next") {
      if (!target.matches(fields)) {
        // A space would press a button, and a letter of a code may be a shortcut.
        if (part === "next") swallow(event);
      } else if (!before.has(target as Field)) before.set(target as Field, (target as Field).value);
    } else if (part !== undefined) {
      swallow(event);
      if (part === "scan") end(scans.ended, takeElsewhere);
    }
  };
  document.addEventListener("keydown", press, { capture: true });
  return () => document.removeEventListener("keydown", press, { capture: true });
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

function begin(target: Element): void {
  origin = target;
  before.clear();
  closed = listClosed();
}

function end(code: string, takeElsewhere: Take): void {
  for (const one of closed) one.value = undefined;
  for (const [field, value] of before) {
    // Also if it is the same: half a date has no value yet.
    enter(field, value, field.matches("select") ? ["input", "change"] : ["input"]);
  }
  // Runs after the page has been drawn, so what was closed is gone.
  queueMicrotask(() => {
    // Where the scan began may have been drawn again.
    if (origin?.isConnected === false) document.getElementById(origin.id)?.focus();
    if (origin?.isConnected && origin.matches("[data-barcode]")) {
      enter(origin as Field, code, ["input", "change"]);
    } else if (isAsking()) playStopSound();
    else if (document.querySelector("dialog:modal") !== null) {
      void stop(`Nobody looked for ${code}, because a dialog is open. Close it, and scan again.`);
    } else (taken ?? takeElsewhere)(code);
  });
}

/** As if a person had typed it. */
function enter(field: Field, value: string, events: readonly string[]): void {
  field.value = value;
  for (const type of events) field.dispatchEvent(new Event(type, { bubbles: true }));
}
