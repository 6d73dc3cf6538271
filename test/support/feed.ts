import { checkAgainstContract } from "./contract/response-check.ts";
import { fetchTrust } from "./tls.ts";
import { slownessMax, until } from "./until.ts";

/** A client of the feed that shows every event, for tests. */
export interface TestFeed {
  readonly status: number;
  readonly headers: Headers;
  /** What the service sent as `retry`. */
  readonly retryMs: number | undefined;
  /** All events so far, heartbeats included. */
  readonly events: readonly FeedEvent[];
  /** The next event. Throws if the stream ends or nothing comes in time. */
  next(): Promise<FeedEvent>;
  /** The next event of this kind. Skips heartbeats only. */
  nextOf(kind: FeedEvent["kind"]): Promise<FeedEvent>;
  /** The `seq` numbers of the next changes. Skips heartbeats only. */
  changes(count: number): Promise<number[]>;
  /** How the stream ended: with its last chunk, or in the middle of the response. */
  closed(): Promise<"ended" | "cut off">;
  /** Closes the connection, as a client that leaves. */
  leave(): void;
}

export interface FeedEvent {
  readonly kind: "change" | "heartbeat" | "reset";
  /** The cursor. */
  readonly id: string;
  readonly seq: number;
  /** The data as it was sent. */
  readonly text: string;
}

export interface FeedOptions {
  readonly key?: string;
  /** With the question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const patienceMs = 8_000;

/** Opens the feed. The response must be a stream, whose first event is read already: `events[0]`. */
export async function openFeed(baseUrl: string, options: FeedOptions = {}): Promise<TestFeed> {
  const feed = await requestFeed(baseUrl, options);
  await feed.next();
  return feed;
}

/** Sends the request and returns the response as soon as its headers are there. */
export async function requestFeed(
  baseUrl: string,
  { key, query = "", headers = {} }: FeedOptions,
): Promise<TestFeed> {
  const leaving = new AbortController();
  const url = `${baseUrl}/changes${query}`;
  const response = await fetch(url, {
    headers: {
      Accept: "text/event-stream",
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...headers,
    },
    signal: leaving.signal,
    ...fetchTrust(url),
  });
  const events: FeedEvent[] = [];
  let read = 0;
  let retryMs: number | undefined;
  let end: "ended" | "cut off" | undefined;
  /** What was wrong with an event. */
  let fault: unknown;

  function check(text: string): void {
    checkAgainstContract({
      method: "GET",
      pathname: new URL(url).pathname,
      status: response.status,
      headers: response.headers,
      text,
    });
  }

  function take(block: string): void {
    const fields = fieldsOf(block);
    if (fields.retry !== undefined) retryMs = Number(fields.retry);
    if (fields.event === undefined) return;
    const { event, id = "", data = "" } = fields;
    const { seq } = JSON.parse(data) as { seq: number };
    events.push({ kind: event as FeedEvent["kind"], id, seq, text: data });
  }

  async function readAll(): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of response.body!) {
      text += decoder.decode(bytes, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      try {
        check(blocks.map((block) => `${block}\n\n`).join(""));
        for (const block of blocks) take(block);
      } catch (error) {
        fault = error;
        leaving.abort();
      }
    }
    if (text !== "") fault = new Error(`the stream ended within an event: ${text}`);
  }

  async function wait(isTrue: () => boolean, what: string): Promise<void> {
    await until(() => isTrue() || end !== undefined, patienceMs, what);
    if (fault !== undefined) throw fault;
  }

  if (response.status === 200) {
    void readAll().then(
      () => {
        end = "ended";
      },
      () => {
        end = "cut off";
      },
    );
  } else {
    check(await response.text());
    end = "ended";
  }

  async function next(): Promise<FeedEvent> {
    await wait(() => events.length > read, "no event");
    const event = events[read];
    if (!event) throw new Error(`the stream ${end === "ended" ? "has ended" : "was cut off"}`);
    read += 1;
    return event;
  }

  async function nextOf(kind: FeedEvent["kind"]): Promise<FeedEvent> {
    const deadline = performance.now() + patienceMs * slownessMax;
    for (;;) {
      // Heartbeats come for ever.
      if (performance.now() > deadline) throw new Error(`no ${kind} in time`);
      const event = await next();
      if (event.kind === kind) return event;
      if (event.kind !== "heartbeat") throw new Error(`not a ${kind}: ${JSON.stringify(event)}`);
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    get retryMs() {
      return retryMs;
    },
    events,
    next,
    nextOf,
    async changes(count) {
      const seqs: number[] = [];
      while (seqs.length < count) seqs.push((await nextOf("change")).seq);
      return seqs;
    },
    async closed() {
      await wait(() => false, "the stream does not end");
      return end!;
    },
    leave: () => leaving.abort(),
  };
}

/** The fields of one event, as the specification of `text/event-stream` reads them. */
export function fieldsOf(block: string): Partial<Record<string, string>> {
  return Object.fromEntries(
    block.split("\n").map((line) => {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      return [name, value];
    }),
  );
}
