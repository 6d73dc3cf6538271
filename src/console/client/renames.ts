import { effect } from "@preact/signals";
import { request } from "./api.ts";
import { connection } from "./live.ts";
import type { AuditRow } from "./types.ts";

// The feed has changes of stock only. The audit log has changes of names, so the page reads it when the
// person returns to the page, and when the feed is connected again.

/** The pets that may have other names now. Undefined: any of them. */
type Renamed = ReadonlySet<string> | undefined;

const rowsMax = 50;
const lookMsMax = 30_000;
const handlers = new Set<(renamed: Renamed) => void>();

/** The last row that was read. Undefined before the first read. */
let lastSeq: number | undefined;
let isLooking = false;
/** Whether somebody wants to know what was changed after the read that is under way began. */
let isLookDue = false;
let looked = Promise.withResolvers<void>();

/** Calls the handler when pets may have other names. */
export function onRenamed(handler: (renamed: Renamed) => void): void {
  handlers.add(handler);
}

/** Resolves after the first read. Every change of a name after that will be found. */
export function whenWatchingNames(): Promise<void> {
  return looked.promise;
}

/** Starts to read the audit log, after signing in. Returns a function that stops. */
export function startRenames(): () => void {
  window.addEventListener("focus", lookForRenames);
  void lookForRenames();
  const stopFollowing = effect(() => {
    if (connection.value.kind === "live") void lookForRenames();
  });
  return () => {
    window.removeEventListener("focus", lookForRenames);
    stopFollowing();
    lastSeq = undefined;
    looked = Promise.withResolvers();
  };
}

/** Reads the audit log now. Never throws. */
export async function lookForRenames(): Promise<void> {
  isLookDue = isLooking;
  if (isLooking) return;
  isLooking = true;
  const { resolve } = looked;
  try {
    const signal = AbortSignal.timeout(lookMsMax);
    read(await request<readonly AuditRow[]>(`/audit?limit=${rowsMax}`, { signal }));
  } catch {
    // If the first read fails, the next one treats every row as new.
    lastSeq ??= -1;
  } finally {
    isLooking = false;
    resolve();
  }
  if (isLookDue) await lookForRenames();
}

function read(newestFirst: readonly AuditRow[]): void {
  const before = lastSeq;
  lastSeq = newestFirst[0]?.seq ?? 0;
  if (before === undefined) return;
  const fresh = newestFirst.filter(({ seq }) => seq > before);
  // More rows than one page, or another store.
  const isUnclear = fresh.length === rowsMax || lastSeq < before;
  const changed = fresh.filter(({ action }) => action === "pet.changed");
  if (isUnclear || fresh.some(({ action }) => action === "pets.imported")) tell(undefined);
  else if (changed.length > 0) tell(new Set(changed.map(({ target }) => target!)));
}

function tell(renamed: Renamed): void {
  for (const handler of handlers) handler(renamed);
}
