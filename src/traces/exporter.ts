import { createAlarm, createTaskCondition, failureDetails } from "../domain/running/background.ts";
import type { Log } from "../domain/running/events.ts";
import { encodeSpans, type Resource } from "./otlp.ts";
import type { Span } from "./tracer.ts";

export interface ExporterBounds {
  /** Spans that wait to be sent, those in progress included. Further ones are dropped. */
  readonly queueMax: number;
  readonly batchMax: number;
  /** How long a span waits at most while the collector works. */
  readonly delayMs: number;
  readonly timeoutMs: number;
  /** The longest time between two attempts. Each failure doubles it. */
  readonly retryMsMax: number;
  /** How long a stop waits for the collector. */
  readonly stopMs: number;
}

export interface ExporterOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Resource;
  readonly bounds: ExporterBounds;
  readonly log: Log;
}

/** The collector asks to send the same spans later. Other statuses mean that it never takes them. */
const retried = [429, 502, 503, 504];

/** Sends spans in batches over HTTP, one request at a time. Adding a span never waits. */
export function startExporter({ url, headers, resource, bounds, log }: ExporterOptions) {
  const alarm = createAlarm();
  const stopping = new AbortController();
  const condition = createTaskCondition(log, { task: "sending traces" });
  let queue: Span[] = [];
  let dropped = 0;
  let isStopped = false;

  async function run(): Promise<void> {
    let waitMs = bounds.delayMs;
    while (!isStopped) {
      await alarm.wait(waitMs);
      waitMs = (await sendAll()) ? bounds.delayMs : Math.min(2 * waitMs, bounds.retryMsMax);
    }
  }

  /** Sends batches until nothing waits. Returns false after a failure. */
  async function sendAll(): Promise<boolean> {
    try {
      while (queue.length > 0) await send(queue.slice(0, bounds.batchMax));
      condition.succeeded();
      return true;
    } catch (error) {
      condition.failed(() => failureDetails(error));
      return false;
    }
  }

  async function send(batch: readonly Span[]): Promise<void> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: encodeSpans(resource, batch),
      redirect: "manual",
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(bounds.timeoutMs)]),
    });
    await response.body?.cancel();
    const { status, ok } = response;
    if (!retried.includes(status)) queue = queue.slice(batch.length);
    if (ok) return;
    if (!retried.includes(status)) dropped += batch.length;
    throw new Error(`the collector returned ${status}`);
  }

  const running = run();

  return {
    add(spans: readonly Span[]): void {
      if (queue.length + spans.length > bounds.queueMax) {
        dropped += spans.length;
        return;
      }
      for (const span of spans) queue.push(span);
      if (queue.length >= bounds.batchMax && !condition.isFailing) alarm.wake();
    },
    /** Spans that were never sent: there was no room, or the collector rejected them. */
    dropped: () => dropped,
    /** Sends what waits, if the collector takes it in time. */
    async stop(): Promise<void> {
      isStopped = true;
      const late = setTimeout(() => stopping.abort(), bounds.stopMs);
      alarm.wake();
      await running;
      clearTimeout(late);
    },
  };
}
