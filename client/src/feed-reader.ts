import { readBody, unexpectedResponse } from "./body.js";
import type { Transport } from "./call.js";
import { decodeLedgerRow, decodePosition } from "./decode-ledger.js";
import { isPetstoreError, type PetstoreError } from "./errors.js";
import type { ServerSentEvent } from "./event-stream.js";
import { type FeedConnection, openFeed } from "./feed-connection.js";
import { pathWithQuery } from "./pages.js";
import type { RawResponse } from "./response.js";
import { Attempts } from "./retry.js";
import type { ResolvedBudget } from "./settings.js";
import type { LedgerRow } from "./types.js";

/**
 * The first event of a watch: its start was found. Every later change that passes the filters
 * follows.
 */
export interface WatchStart {
  readonly type: "start";
  /** The position of the start. Pass it as `after` to start there again. */
  readonly cursor: string;
  /** The number of the last row before the start. `snapshot(seq)` is the stock at the start. */
  readonly seq: number;
}

/** One change of the stock. */
export interface WatchChange {
  readonly type: "change";
  readonly change: LedgerRow;
  /** The position after this change. */
  readonly cursor: string;
}

/**
 * The cursor belongs to another history, for example because the service was restored from a backup.
 * Changes that you have seen may not exist any more. Load the stock again: `snapshot(seq)`. The
 * changes after `seq` follow.
 */
export interface WatchReset {
  readonly type: "reset";
  /** The position in the new history. */
  readonly cursor: string;
  /** The number of the row after which the watch continues. */
  readonly seq: number;
}

export type WatchEvent = WatchStart | WatchChange | WatchReset;

export interface FeedRequest {
  readonly after: string | undefined;
  readonly since: string | undefined;
  readonly cause: string | undefined;
  readonly key: string | undefined;
  readonly headers: Headers;
  readonly budget: ResolvedBudget;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
}

/** The delay before a new connection if the service sent none. The service sends 1 to 3 seconds. */
const defaultRetryMs = 1000;

/** A cursor can be sent in a header. */
const validCursor = /^[\x21-\x7e]{1,1000}$/;

/** Reads the feed over as many connections as needed, each change once and in order. */
export class FeedReader {
  readonly #transport: Transport;
  readonly #request: FeedRequest;
  readonly #isFiltered: boolean;
  #cursor: string | undefined;
  /** The row up to which everything was returned. Undefined before the first event. */
  #seq: number | undefined;

  constructor(transport: Transport, request: FeedRequest) {
    this.#transport = transport;
    this.#request = request;
    this.#isFiltered = request.cause !== undefined || request.key !== undefined;
    this.#cursor = request.after;
  }

  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Throws the signal's reason, or the error of an attempt that is not worth repeating. */
  async *events(): AsyncGenerator<WatchEvent, void, undefined> {
    const { budget, headers, signal } = this.#request;
    signal.throwIfAborted();
    const attempts = new Attempts(this.#transport, budget, headers, signal);
    for (;;) {
      const plan = await attempts.next(this.#call());
      const connection = await openFeed(this.#transport, plan);
      if ("error" in connection) {
        await attempts.waitAfter(plan, connection);
        continue;
      }
      const { error, isProven } = yield* this.#readAll(connection);
      if (isProven) attempts.restart();
      await attempts.waitAfter(plan, {
        error,
        retryAfterMs: connection.retryMs ?? defaultRetryMs,
      });
    }
  }

  #call() {
    const { after, since, cause, key } = this.#request;
    const path = pathWithQuery("/changes", { after, since, cause, key });
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    // The header takes precedence over the parameter. The URL stays the same, so that a browser need
    // not ask the service again whether the page may send the request.
    if (this.#seq !== undefined && this.#cursor !== undefined) {
      headers["Last-Event-ID"] = this.#cursor;
    }
    return { operation: "listChanges", method: "GET", path, headers } as const;
  }

  /**
   * Yields the events of one connection until it is lost, then returns the reason. `isProven` is true
   * if the connection worked, so that its loss does not count as one more failure in a row.
   */
  async *#readAll(
    connection: FeedConnection,
  ): AsyncGenerator<WatchEvent, { error: PetstoreError; isProven: boolean }, undefined> {
    const { signal, idleTimeoutMs } = this.#request;
    let isProven = false;
    signal.addEventListener("abort", connection.close);
    try {
      signal.throwIfAborted();
      for await (const received of connection.events(idleTimeoutMs)) {
        const event = this.#read(received, connection.response);
        isProven = true;
        if (event !== undefined) yield event;
      }
      throw new Error("unreachable: the feed has no end");
    } catch (error) {
      signal.throwIfAborted();
      if (isPetstoreError(error) && error.kind !== "api") return { error, isProven };
      throw error;
    } finally {
      signal.removeEventListener("abort", connection.close);
      connection.close();
    }
  }

  /** Moves the position; returns the event for the caller, or undefined if there is none. */
  #read(received: ServerSentEvent, response: RawResponse): WatchEvent | undefined {
    const { type, data, id: cursor } = received;
    // A later version of the service can add types.
    if (type !== "change" && type !== "heartbeat" && type !== "reset") return undefined;
    const message = { ...response, text: data };
    if (!validCursor.test(cursor)) {
      throw unexpectedResponse(message, "An event of the feed has no valid id");
    }
    if (type === "change") {
      const change = readBody(message, decodeLedgerRow);
      if (this.#seq !== undefined && change.seq <= this.#seq) return undefined;
      this.#checkGap(change.seq - 1, message);
      this.#moveTo(cursor, change.seq);
      return { type, change, cursor };
    }
    const seq = readBody(message, decodePosition);
    if (type === "reset") {
      this.#moveTo(cursor, seq);
      return { type, cursor, seq };
    }
    const isStart = this.#seq === undefined;
    if (this.#seq !== undefined && seq < this.#seq) return undefined;
    this.#checkGap(seq, message);
    this.#moveTo(cursor, seq);
    return isStart ? { type: "start", cursor, seq } : undefined;
  }

  #moveTo(cursor: string, seq: number): void {
    this.#cursor = cursor;
    this.#seq = seq;
  }

  /** Without a filter every row is sent, and rows are numbered without gaps. */
  #checkGap(seqBefore: number, message: RawResponse): void {
    if (this.#isFiltered || this.#seq === undefined || seqBefore === this.#seq) return;
    throw unexpectedResponse(message, `The feed skipped the rows ${this.#seq + 1} to ${seqBefore}`);
  }
}
