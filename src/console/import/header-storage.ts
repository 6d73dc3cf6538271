/** The fields of columns, by header. `ignore` leaves a column out. */
export type HeaderMap = Readonly<Record<string, string>>;

/** As many as the service takes. The oldest are forgotten first. */
const headersMax = 100;

function nameOf(what: string): string {
  return `petstore-import-${what}`;
}

/** The columns that this browser has seen, so that the next file of the same kind needs no work. */
export function readHeaders(what: string): HeaderMap {
  try {
    const text = window.localStorage.getItem(nameOf(what));
    if (text !== null) return JSON.parse(text) as HeaderMap;
  } catch {
    // A browser without storage: every file is mapped anew.
  }
  return {};
}

export function writeHeaders(what: string, map: HeaderMap): void {
  const kept = Object.fromEntries(Object.entries(map).slice(-headersMax));
  try {
    window.localStorage.setItem(nameOf(what), JSON.stringify(kept));
  } catch {
    // The same.
  }
}
