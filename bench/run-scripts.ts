// Runs scripts over keep-alive connections, one request in flight on each, and measures the
// latencies.
import { Histogram, type Latency } from "./histogram.ts";
import { type Head, type HeaderNames, ResponseReader } from "./response-reader.ts";
import type { Kind, Script, Target } from "./scripts.ts";

export interface LoadResult {
  seconds: number;
  /** Responses per second, GET and PATCH together. */
  throughput: number;
  /** Share of one core that the generator used. Near 1 the generator limits the throughput. */
  generatorBusy: number;
  get: Latency;
  patch: Latency;
}

/**
 * Runs every script on a separate connection. Rejects at the first wrong response. `perSecond` limits
 * the requests of all connections together; a connection that is late sends at once.
 */
export async function runScripts(
  target: Target,
  scripts: Script[],
  durationMs: number,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<LoadResult> {
  const histograms = { get: new Histogram(), patch: new Histogram() };
  const headerNames: HeaderNames = new Map();
  const connections = scripts.map((script) => new Connection(script, histograms, headerNames));
  const intervalMs = (scripts.length * 1000) / perSecond;
  await Promise.all(connections.map((connection) => connection.open(target)));
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  try {
    await Promise.all(
      connections.map((connection, index) => {
        const firstAt = startedAt + (intervalMs * index) / connections.length;
        return connection.run(firstAt, startedAt + durationMs, intervalMs);
      }),
    );
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
  readonly #reader: ResponseReader;
  readonly #finished = Promise.withResolvers<void>();
  #socket: Bun.Socket | undefined;
  #head: Head | undefined;
  #sentAt = 0;
  #nextAt = 0;
  #endsAt = 0;
  #intervalMs = 0;

  constructor(script: Script, histograms: Record<Kind, Histogram>, headerNames: HeaderNames) {
    this.#script = script;
    this.#histograms = histograms;
    // A connection that fails before it runs must not count as an unhandled rejection.
    this.#finished.promise.catch(() => {});
    this.#reader = new ResponseReader(
      {
        head: (head) => {
          this.#head = head;
        },
        body: (bytes, offset) => script.body(bytes, offset),
        end: (length) => this.#finishResponse(length),
      },
      headerNames,
    );
  }

  async open(target: Target): Promise<void> {
    const fail = (message: string) => this.#finished.reject(new Error(message));
    this.#socket = await Bun.connect({
      hostname: target.host,
      port: target.port,
      socket: {
        data: (_socket, chunk) => this.#receive(chunk),
        close: () => fail("The server closed a connection."),
        error: (_socket, error) => fail(`A connection failed: ${error.message}`),
      },
    });
    this.#socket.setNoDelay(true);
  }

  run(firstAt: number, endsAt: number, intervalMs: number): Promise<void> {
    this.#nextAt = firstAt;
    this.#endsAt = endsAt;
    this.#intervalMs = intervalMs;
    this.#sendWhenDue();
    return this.#finished.promise;
  }

  close(): void {
    this.#socket?.terminate();
  }

  #sendWhenDue(): void {
    const now = performance.now();
    const dueAt = this.#nextAt;
    this.#nextAt += this.#intervalMs;
    if (Math.max(now, dueAt) >= this.#endsAt) this.#finished.resolve();
    else if (dueAt <= now) this.#send();
    else setTimeout(() => this.#send(), dueAt - now);
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

  #finishResponse(length: number): void {
    const now = performance.now();
    this.#histograms[this.#script.kind].add(now - this.#sentAt);
    this.#script.finish(this.#head!, length);
    this.#sendWhenDue();
  }
}
