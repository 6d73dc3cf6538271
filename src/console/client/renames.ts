import { effect } from "@preact/signals";
import { request } from "./api.ts";
import { connection } from "./live.ts";
import type { AuditRow } from "./types.ts";

// The feed has changes of stock only. That somebody gave a pet another name is in the audit log, so the
// page looks there when the person comes back to it, and when the feed is connected again.

/** The pets that may have other names now. Undefined: any of them. */
type Renamed = ReadonlySet<string> | undefined;

const rowsMax = 50;
const handlers = new Set<(renamed: Renamed) => void>();

/** The last row that was read. Undefined before the first look. */
let lastSeq: number | undefined;
let isLooking = false;
let looked = Promise.withResolvers<void>();

/** Calls the handler when pets may have other names. */
export function onRenamed(handler: (renamed: Renamed) => void): void {
  handlers.add(handler);
}

/** Resolves when every later change of a name will be found. */
export function whenWatchingNames(): Promise<void> {
  return looked.promise;
}

/** Starts to look, after signing in. Returns a function that stops. */
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

/** Looks now. Never fails. */
export async function lookForRenames(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  const { resolve } = looked;
  try {
    read(await request<readonly AuditRow[]>(`/audit?limit=${rowsMax}`));
  } catch {
    // After a failed first look, every row is news to the next one.
    lastSeq ??= -1;
  } finally {
    isLooking = false;
    resolve();
  }
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
