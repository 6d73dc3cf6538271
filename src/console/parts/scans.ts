import type { Signal } from "@preact/signals";

/** The most that a scanner needs from key to key. Nobody types eight characters that fast. */
const keyMsMax = 30;
/** One key may come late. */
const pauseMsMax = 2 * keyMsMax;
/** A shorter text can be a quantity that somebody types fast. */
const codeCharactersMin = 8;

type Press = Pick<KeyboardEvent, "key" | "timeStamp" | "repeat" | "ctrlKey" | "altKey" | "metaKey">;

/** What a key is: it may begin a scan, go on with it, or end it. */
type Part = "first" | "next" | "scan" | "echo" | undefined;

/** Tells scans from typing by the times at which keys were pressed, not those at which the page took them. */
export class Scans {
  /** What came at the speed of a scanner until now. */
  text = "";
  /** The same, as the last Enter or Tab has ended it. Empty if a person typed it. */
  ended = "";
  #startedAt = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #scannedAt = Number.NEGATIVE_INFINITY;

  press({ key, timeStamp: at, repeat, ctrlKey, altKey, metaKey }: Press): Part {
    // Shift comes before a capital letter. Separators inside a code come as Ctrl and a key.
    if (key === "Shift" || ctrlKey || altKey || metaKey) return undefined;
    const isEnd = key === "Enter" || key === "Tab";
    if (repeat || (key.length !== 1 && !isEnd)) {
      this.text = "";
      return undefined;
    }
    const isFast = at - this.#lastAt < pauseMsMax;
    this.#lastAt = at;
    if (isEnd) return this.#end(at, isFast);
    if (!isFast || this.text === "") {
      this.text = key;
      this.#startedAt = at;
      return "first";
    }
    this.text += key;
    return "next";
  }

  #end(at: number, isFast: boolean): Part {
    const isScanned = isFast && at - this.#startedAt < keyMsMax * this.text.length;
    const wasScan = this.text === "" && at - this.#scannedAt < pauseMsMax;
    this.ended = isScanned ? this.text : "";
    this.text = "";
    const isScan = this.ended.length >= codeCharactersMin;
    if (isScan || wasScan) this.#scannedAt = at;
    // Some scanners end with two keys.
    return isScan ? "scan" : wasScan ? "echo" : undefined;
  }
}

const closable: Signal<unknown>[] = [];

/** Registers a signal by which keys open something. The end of a scan closes it again. */
export function closedByScan(opened: Signal<unknown>): void {
  closable.push(opened);
}

/** The signals that are closed now. A scan that begins now resets them at its end. */
export function listClosed(): readonly Signal<unknown>[] {
  return closable.filter((one) => one.peek() === undefined);
}
