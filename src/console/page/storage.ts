// What the browser keeps for this page. A browser without storage keeps nothing, and the page still works.

import { valueOfJson } from "../../domain/values/json.ts";

export function readStored(name: string): string | undefined {
  try {
    return window.localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** A value that was stored as JSON. Undefined, too, if the text is broken. */
export function readStoredJson<T>(name: string): T | undefined {
  return valueOfJson<T>(readStored(name));
}

/** Returns false if the browser cannot store it. Then a reload forgets it. */
export function store(name: string, text: string): boolean {
  try {
    window.localStorage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
}
