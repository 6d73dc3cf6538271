import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerEndlessly, type Behaviour, confirm } from "../webhooks/receiver.ts";

/** A request whose body arrived in full. */
export interface Arrival {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the receiver answered with 2xx. */
  isConfirmed: boolean;
}

/** What one webhook sends to. */
export interface Endpoint {
  readonly path: string;
  /** In the order in which they arrived. */
  readonly arrivals: readonly Arrival[];
  /** The longest time in which two requests were open at once. */
  readonly overlapMs: number;
}

/** A receiver that treats requests badly, at random, until `behave`. */
export interface BadReceiver {
  urlOf(endpoint: Endpoint): string;
  addEndpoint(): Endpoint;
  /** How often each behaviour was chosen. */
  readonly behaved: Readonly<Record<string, number>>;
  /** Requests to the address that redirects name. Nothing may follow them. */
  readonly followed: number;
  /** Confirms everything from now on. */
  behave(): void;
  /** Accepts requests for a while without answering them. */
  hang(ms: number): Promise<void>;
  /** Closes the port and every connection for a while. */
  die(downMs: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ReceiverOptions {
  /** The time that an attempt may take. */
  readonly timeoutMs?: number;
  /** If given, the receiver confirms everything after this time. */
  readonly delayMs?: number;
}

const behavioursOf = (timeoutMs: number, redirectUrl: string): Record<string, Behaviour> => ({
  confirms: confirm,
  fails: (response) => void response.writeHead(500).end("<h1>no</h1>"),
  refuses: (response) => void response.writeHead(400, { "Retry-After": "0" }).end(),
  "asks to wait": (response) => void response.writeHead(503, { "Retry-After": "1" }).end(),
  redirects: (response) => void response.writeHead(307, { Location: redirectUrl }).end(),
  hangs: () => {},
  "answers late": (response, request) =>
    void setTimeout(() => confirm(response, request), timeoutMs * 0.6),
  "answers too late": (response, request) =>
    void setTimeout(() => confirm(response, request), timeoutMs * 1.5),
  resets: (_, { socket }) => void socket.resetAndDestroy(),
  "closes within the response": (_, { socket }) => void socket.end("HTTP/1.1 200 OK\r\nConte"),
  "sends something else": (_, { socket }) => void socket.end("SSH-2.0-OpenSSH_9.9\r\n"),
  "confirms endlessly": answerEndlessly(200),
  "fails endlessly": answerEndlessly(500),
});

/** Half of the requests are confirmed, so that deliveries make progress. */
const goodShare = 0.5;

export async function startBadReceiver(options: ReceiverOptions): Promise<BadReceiver> {
  const { timeoutMs = 0, delayMs } = options;
  const endpoints = new Map<string, Endpoint & { overlapMs: number; arrivals: Arrival[] }>();
  const open = new Map<string, Set<IncomingMessage>>();
  const behaved: Record<string, number> = {};
  let followed = 0;
  let isHanging = false;
  let isGood = delayMs !== undefined;
  let behaviours: Record<string, Behaviour> = {};

  const server = createServer(async (request, response) => {
    const endpoint = endpoints.get(request.url ?? "");
    if (!endpoint) {
      followed += 1;
      return void response.writeHead(204).end();
    }
    noteOverlap(endpoint, request, response);
    const body = await readBody(request);
    if (body === undefined) return;
    const headers = request.headers as Record<string, string>;
    const arrival = { headers, body, isConfirmed: false };
    endpoint.arrivals.push(arrival);
    response.on("error", () => {});
    // The status counts, also if the body never ends.
    const noteStatus = () => {
      arrival.isConfirmed = response.headersSent && response.statusCode < 300;
    };
    response.on("finish", noteStatus);
    const names = Object.keys(behaviours);
    if (isHanging) return;
    const isConfirmed = isGood || Math.random() < goodShare;
    const name = isConfirmed ? "confirms" : names[Math.floor(Math.random() * names.length)]!;
    behaved[name] = (behaved[name] ?? 0) + 1;
    if (delayMs !== undefined) await Bun.sleep(delayMs);
    behaviours[name]!(response, request);
    noteStatus();
  });

  /** A request is open until the response is complete or the connection is closed. */
  function noteOverlap(
    endpoint: { path: string; overlapMs: number },
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const others = open.get(endpoint.path)!;
    const arrivedAt = performance.now();
    for (const other of others) {
      other.once("over", () => {
        endpoint.overlapMs = Math.max(endpoint.overlapMs, performance.now() - arrivedAt);
      });
    }
    others.add(request);
    const over = () => {
      if (others.delete(request)) request.emit("over");
    };
    response.on("finish", over);
    response.on("close", over);
    request.socket.on("close", over);
  }

  let port = 0;
  const start = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  async function stop(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
  await start();
  port = (server.address() as AddressInfo).port;
  const origin = `http://127.0.0.1:${port}`;
  behaviours = behavioursOf(timeoutMs, `${origin}/elsewhere`);

  return {
    urlOf: ({ path }) => origin + path,
    addEndpoint() {
      const path = `/hooks/${endpoints.size + 1}`;
      const endpoint = { path, arrivals: [], overlapMs: 0 };
      endpoints.set(path, endpoint);
      open.set(path, new Set());
      return endpoint;
    },
    behaved,
    get followed() {
      return followed;
    },
    behave() {
      isGood = true;
    },
    async hang(ms) {
      isHanging = true;
      await Bun.sleep(ms);
      isHanging = false;
    },
    async die(downMs) {
      await stop();
      await Bun.sleep(downMs);
      await start();
    },
    stop,
  };
}

/** Undefined if the sender closes the connection before the body is complete. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return request.complete ? Buffer.concat(chunks).toString() : undefined;
}
