// Controls the process of the feed's listeners. A row that is missing, repeated or out of order fails
// the benchmark.
import { join } from "node:path";
import type { Answer, ListenersReport, Order } from "./listeners-process.ts";
import { type Child, start, stop } from "./processes.ts";
import type { Target } from "./scripts.ts";

export class Listeners {
  readonly #child: Child;
  #waiting: PromiseWithResolvers<Answer> | undefined;

  constructor() {
    this.#child = start({
      command: [process.execPath, join(import.meta.dir, "listeners-process.ts")],
      onMessage: (message) => this.#waiting?.resolve(message as Answer),
    });
    this.#child.exited.then(() =>
      this.#waiting?.reject(new Error(`The listeners ended: ${this.#child.stderrTail()}`)),
    );
  }

  /** Opens streams that begin with the next change. There must be none meanwhile. */
  open(target: Target, count: number): Promise<ListenersReport> {
    return this.#order({ kind: "open", target, count });
  }

  /** Waits until every listener has received the row. */
  awaitRow(seq: number, timeoutMs: number): Promise<ListenersReport> {
    return this.#order({ kind: "await", seq, timeoutMs });
  }

  /** Returns what arrived since the last report, which every method returns. */
  report(): Promise<ListenersReport> {
    return this.#order({ kind: "report" });
  }

  async close(): Promise<void> {
    await this.#order({ kind: "close" });
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }

  async #order(order: Order): Promise<ListenersReport> {
    this.#waiting = Promise.withResolvers();
    this.#child.process.send(order);
    const answer = await this.#waiting.promise;
    if ("failure" in answer) throw new Error(`feed: ${answer.failure}`);
    return answer.report;
  }
}

/** Reads the last row of the ledger from the first event of a stream. */
export async function readLastSeq({ host, port, key }: Target): Promise<number> {
  const response = await fetch(`http://${host}:${port}/v1/changes`, {
    headers: { authorization: `Bearer ${key}`, accept: "text/event-stream" },
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`No event on a stream: ${response.status} ${text}`);
    text += decoder.decode(value);
    const seq = /"seq":(\d+)\}\n\n/.exec(text)?.[1];
    if (seq === undefined) continue;
    await reader.cancel();
    return Number(seq);
  }
}
