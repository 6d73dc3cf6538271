import { signal } from "@preact/signals";
import { checkSession } from "./api.ts";
import { parseExactly } from "./exact-json.ts";
import type { LedgerRow } from "./types.ts";

/**
 * The state of the feed.
 * `connecting`: the first connection. `live`: changes arrive as they happen. `lost`: the page shows the
 * state at `since`, and a new connection is tried again and again. `paused`: nobody sees the page.
 */
export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly since: number }
  | { readonly kind: "paused" };

export const connection = signal<Connection>({ kind: "connecting" });

export interface Listener {
  /** Rows in the order of the ledger, without gaps. */
  rows(rows: readonly LedgerRow[]): void;
  /** Rows may be missing: load everything again. */
  reset?(): void;
}

const listeners = new Set<Listener>();

/** Calls the listener with every change from now on. Returns a function that ends this. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The service sends an event at least every 13 seconds. */
const silenceMsMax = 30_000;
const retryMsMin = 500;
const retryMsMax = 15_000;
/**
 * A page that nobody sees gives up its connection after this time. Browsers open few connections to one
 * host, so many tabs would block each other.
 */
const hiddenMsMax = 60_000;

let source: EventSource | undefined;
/** The id of the last event: the place where the next connection continues. */
let cursor: string | undefined;
/** True if a connection was lost before it told a cursor, so that changes may be missing. */
let isGap = false;
/** When the last event arrived. The page shows the state at this time. */
let heardAt: number | undefined;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;
let opened = Promise.withResolvers<void>();

/** Opens the feed, after signing in. Returns a function that closes it, for signing out. */
export function startLive(): () => void {
  document.addEventListener("visibilitychange", visibilityChanged);
  window.addEventListener("online", reconnectNow);
  connect();
  return stop;
}

function stop(): void {
  document.removeEventListener("visibilitychange", visibilityChanged);
  window.removeEventListener("online", reconnectNow);
  clearTimeout(hiding);
  close();
  cursor = undefined;
  isGap = false;
  heardAt = undefined;
  failures = 0;
  opened = Promise.withResolvers();
  connection.value = { kind: "connecting" };
}

/**
 * Resolves when every later change will be reported, or when the first attempt has failed. Data that is
 * loaded afterwards has no gap: after a failed attempt, the next connection calls `reset`.
 */
export function whenListening(): Promise<void> {
  return opened.promise;
}

/** The last position that the service has sent. */
export const lastHeard = () => cursor;

export function reconnectNow(): void {
  if (connection.value.kind === "lost") connect();
}

function connect(): void {
  close();
  const query = cursor === undefined ? "" : `?after=${encodeURIComponent(cursor)}`;
  source = new EventSource(`/admin/changes${query}`);
  source.addEventListener("open", isOpen);
  source.addEventListener("change", (event) => receive(event, true));
  source.addEventListener("heartbeat", (event) => receive(event, false));
  source.addEventListener("reset", (event) => {
    receive(event, false);
    drop();
  });
  source.addEventListener("error", failed);
  listenForSilence();
}

function isOpen(): void {
  failures = 0;
  connection.value = { kind: "live" };
  opened.resolve();
  if (isGap) drop();
  isGap = false;
}

/** Rows that arrive together are handed over together, so that a burst is one update of the page. */
let pending: LedgerRow[] = [];

function receive(event: MessageEvent<string>, isChange: boolean): void {
  cursor = event.lastEventId;
  heardAt = Date.now();
  listenForSilence();
  if (!isChange) return;
  if (pending.length === 0) setTimeout(handOver, 0);
  pending.push(parseExactly(event.data) as LedgerRow);
}

function handOver(): void {
  const rows = pending;
  pending = [];
  if (rows.length > 0) for (const listener of [...listeners]) listener.rows(rows);
}

function drop(): void {
  pending = [];
  for (const listener of [...listeners]) listener.reset?.();
}

function failed(): void {
  close();
  if (cursor === undefined) isGap = true;
  opened.resolve();
  failures += 1;
  if (connection.value.kind !== "lost") {
    // After a pause, or after the computer slept, the page shows an older state than the current one.
    connection.value = { kind: "lost", since: heardAt ?? Date.now() };
  }
  const limitMs = Math.min(retryMsMax, retryMsMin * 2 ** (failures - 1));
  timer = setTimeout(connect, limitMs * (0.5 + Math.random() / 2));
  // An event source does not tell why it failed. A request finds out whether the session has ended.
  void checkSession();
}

function listenForSilence(): void {
  clearTimeout(silence);
  silence = setTimeout(failed, silenceMsMax);
}

function close(): void {
  clearTimeout(timer);
  clearTimeout(silence);
  source?.close();
  source = undefined;
}

let hiding: ReturnType<typeof setTimeout> | undefined;

function visibilityChanged(): void {
  clearTimeout(hiding);
  if (document.hidden) {
    hiding = setTimeout(() => {
      close();
      if (cursor === undefined) isGap = true;
      connection.value = { kind: "paused" };
    }, hiddenMsMax);
  } else if (connection.value.kind !== "live") {
    connect();
  }
}
