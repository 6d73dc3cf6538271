// Runs scripts over keep-alive connections, one request in flight on each, and times the answers.
import { Histogram, type Latency } from "./histogram.ts";
import type { Kind, Script, Target } from "./scripts.ts";
import { AnswerReader, type Head, type Spellings } from "./wire.ts";

export interface Outcome {
  seconds: number;
  /** Answers per second, all kinds together. */
  throughput: number;
  /** Share of one core that the generator itself used: near 1 it is the generator that is measured. */
  generatorBusy: number;
  get: Latency;
  patch: Latency;
}

/** Runs every script on a connection of its own for the time given; the first wrong answer rejects. */
export async function drive(
  target: Target,
  scripts: Script[],
  durationMs: number,
): Promise<Outcome> {
  const histograms = { get: new Histogram(), patch: new Histogram() };
  const spellings: Spellings = new Map();
  const connections = scripts.map((script) => new Connection(script, histograms, spellings));
  await Promise.all(connections.map((connection) => connection.open(target)));
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  try {
    await Promise.all(connections.map((connection) => connection.run(startedAt + durationMs)));
  } finally {
    for (const connection of connections) connection.close();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  return {
    seconds,
    generatorBusy: (cpu.user + cpu.system) / 1e6 / seconds,
    throughput: (histograms.get.count + histograms.patch.count) / seconds,
    get: histograms.get.summary(),
    patch: histograms.patch.summary(),
  };
}

class Connection {
  readonly #script: Script;
  readonly #histograms: Record<Kind, Histogram>;
  readonly #reader: AnswerReader;
  readonly #finished = Promise.withResolvers<void>();
  #socket: Bun.Socket | undefined;
  #head: Head | undefined;
  #sentAt = 0;
  #endsAt = 0;

  constructor(script: Script, histograms: Record<Kind, Histogram>, spellings: Spellings) {
    this.#script = script;
    this.#histograms = histograms;
    // A connection that breaks before it runs must not count as an unhandled rejection.
    this.#finished.promise.catch(() => {});
    this.#reader = new AnswerReader(
      {
        head: (head) => {
          this.#head = head;
        },
        body: (bytes, offset) => script.body(bytes, offset),
        end: (length) => this.#answered(length),
      },
      spellings,
    );
  }

  async open(target: Target): Promise<void> {
    const broken = (what: string) => this.#finished.reject(new Error(what));
    this.#socket = await Bun.connect({
      hostname: target.host,
      port: target.port,
      socket: {
        data: (_socket, chunk) => this.#receive(chunk),
        close: () => broken("The server closed a connection."),
        error: (_socket, error) => broken(`A connection broke: ${error.message}`),
      },
    });
    this.#socket.setNoDelay(true);
  }

  run(endsAt: number): Promise<void> {
    this.#endsAt = endsAt;
    this.#send();
    return this.#finished.promise;
  }

  close(): void {
    this.#socket?.terminate();
  }

  #send(): void {
    const request = this.#script.next();
    this.#sentAt = performance.now();
    if (this.#socket!.write(request) !== request.length) {
      this.#finished.reject(new Error("A request did not fit into the socket's buffer."));
    }
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#finished.reject(error);
      this.close();
    }
  }

  #answered(length: number): void {
    const now = performance.now();
    this.#histograms[this.#script.kind].add(now - this.#sentAt);
    this.#script.finish(this.#head!, length);
    if (now < this.#endsAt) this.#send();
    else this.#finished.resolve();
  }
}
