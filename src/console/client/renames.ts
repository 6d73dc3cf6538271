import { request } from "./api.ts";

// The feed has changes of stock only. That somebody gave a pet another name is in the audit log, so the
// page looks there from time to time, and when the person comes back to it.

/** The pets that may have other names now. Undefined: any of them. */
type Renamed = ReadonlySet<string> | undefined;

interface AuditRow {
  readonly seq: number;
  readonly action: string;
  readonly target: string | null;
}

const everyMs = 10_000;
const rowsMax = 50;
const handlers = new Set<(renamed: Renamed) => void>();

/** The last row that was read. Undefined before the first look. */
let lastSeq: number | undefined;
/** True if the first look failed, so that names may have changed since they were loaded. */
let isLate = false;
let isLooking = false;
let timer: ReturnType<typeof setInterval> | undefined;
let looked = Promise.withResolvers<void>();

/** Calls the handler when pets may have other names. */
export function onRenamed(handler: (renamed: Renamed) => void): void {
  handlers.add(handler);
}

/** Resolves when every later change of a name will be reported. */
export function whenWatchingNames(): Promise<void> {
  return looked.promise;
}

/** Starts to look, after signing in. */
export function startRenames(): void {
  timer = setInterval(lookIfSeen, everyMs);
  window.addEventListener("focus", lookIfSeen);
  document.addEventListener("visibilitychange", lookIfSeen);
  void lookForRenames();
}

export function stopRenames(): void {
  clearInterval(timer);
  window.removeEventListener("focus", lookIfSeen);
  document.removeEventListener("visibilitychange", lookIfSeen);
  lastSeq = undefined;
  isLate = false;
  looked = Promise.withResolvers();
}

function lookIfSeen(): void {
  if (!document.hidden) void lookForRenames();
}

/** Looks now. Never fails. */
export async function lookForRenames(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  const { resolve } = looked;
  try {
    read(await request<readonly AuditRow[]>(`/audit?limit=${rowsMax}`));
  } catch {
    isLate ||= lastSeq === undefined;
  } finally {
    isLooking = false;
    resolve();
  }
}

function read(newestFirst: readonly AuditRow[]): void {
  const before = lastSeq;
  lastSeq = newestFirst[0]?.seq ?? 0;
  if (before === undefined) {
    if (isLate) tell(undefined);
    isLate = false;
    return;
  }
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
