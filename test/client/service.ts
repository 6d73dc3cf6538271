import { Limiter } from "./limiter.ts";

/** What the service should do with the next request instead of answering it. */
export type Interjection = (request: Request) => Response | Promise<Response>;

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface ServiceOptions {
  readonly now?: () => number;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly entries?: number;
  readonly orders?: number;
}

export const apiKey = "psk_test_scripted";

const exposed =
  "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, Retry-After, ETag, Link, X-Request-Id";

/**
 * A small HTTP server of its own that keeps the public rules of the service: keys, limits, ids over
 * the whole 64-bit range, conditional lists, pages. Real sockets, so that nothing of the client is
 * replaced; scripted, so that it can fail on demand.
 */
export class ScriptedService {
  readonly limiter: Limiter;
  readonly received: Received[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #interjections: Interjection[] = [];
  readonly #now: () => number;
  readonly #entries: Map<bigint, number>;
  readonly #orders: number;
  #version = 1;

  constructor(options: ServiceOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.limiter = new Limiter(options.perMinute ?? 60, options.perDay ?? 1000);
    const count = options.entries ?? 3;
    this.#entries = new Map(Array.from({ length: count - 1 }, (_, at) => [BigInt(at + 1), at]));
    this.#entries.set(9223372036854775807n, 7);
    this.#orders = options.orders ?? 5;
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  /** Queues what to do with the next requests, one each. */
  interject(...interjections: Interjection[]): void {
    this.#interjections.push(...interjections);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    if (request.method === "OPTIONS") return preflight();
    const url = new URL(request.url);
    const body = await request.text();
    const { method, headers } = request;
    this.received.push({ method, path: url.pathname + url.search, headers, body });
    const interjection = this.#interjections.shift();
    const answer = interjection ? await interjection(request) : this.#serve(request, url, body);
    answer.headers.set("access-control-allow-origin", "*");
    answer.headers.set("access-control-expose-headers", exposed);
    return answer;
  }

  #serve(request: Request, url: URL, body: string): Response {
    const limits = this.limiter.take(this.#now());
    const base = { ...limits, "x-request-id": `request-${this.received.length}` };
    if (request.headers.get("authorization") !== `Bearer ${apiKey}`) {
      return refuse(401, "unauthorized", "The API key is missing or invalid", base);
    }
    if ("retry-after" in limits) {
      return refuse(429, "rate_limit_exceeded", "The limit is used up", base);
    }
    const path = url.pathname.slice("/v1".length);
    if (path === "/inventory") return this.#list(request, base);
    if (path === "/store/orders") return this.#listOrders(url, base);
    const [, noun, id] = /^\/(inventory|pets)\/(-?\d+)$/.exec(path) ?? [];
    if (id === undefined || !this.#entries.has(BigInt(id))) {
      return refuse(404, "not_found", "No such pet", base);
    }
    if (noun === "pets") return json(pet(id), base);
    return this.#update(BigInt(id), body, base);
  }

  #list(request: Request, base: Record<string, string>): Response {
    const headers = { ...base, etag: `"epoch-${this.#version}"` };
    if (request.headers.get("if-none-match") === headers.etag) {
      return new Response(null, { status: 304, headers });
    }
    return json(`[${[...this.#entries].map(([id]) => this.#item(id)).join(",")}]`, headers);
  }

  #update(id: bigint, body: string, base: Record<string, string>): Response {
    const { quantity } = JSON.parse(body);
    if (!Number.isSafeInteger(quantity) || quantity < 0) {
      return refuse(400, "invalid_request", "quantity must be an integer of 0 or more", base);
    }
    this.#entries.set(id, quantity);
    this.#version++;
    return json(this.#item(id), base);
  }

  #item(id: bigint): string {
    return `{"petId":${id},"quantity":${this.#entries.get(id)},"status":"available"}`;
  }

  #listOrders(url: URL, base: Record<string, string>): Response {
    const limit = Number(url.searchParams.get("limit") ?? 100);
    const highest = 9223372036854775807n;
    const lowest = highest - BigInt(this.#orders) + 1n;
    const after = url.searchParams.get("after");
    const ids: bigint[] = [];
    for (let id = after === null ? highest : BigInt(after) - 1n; id >= lowest; id--) {
      if (ids.push(id) === limit) break;
    }
    const last = ids.at(-1);
    const next = `<${url.pathname}?limit=${limit}&after=${last}>; rel="next"`;
    const hasMore = last !== undefined && last > lowest;
    return json(`[${ids.map(order).join(",")}]`, hasMore ? { ...base, link: next } : base);
  }
}

export function refuse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ code, message, status }, { status, headers });
}

function json(text: string, headers: Record<string, string>): Response {
  return new Response(text, { headers: { ...headers, "content-type": "application/json" } });
}

function pet(id: string): string {
  return `{"id":${id},"name":"Says \\"petId\\":1","category":null,"photoUrls":[],"tags":["calm"],"status":"sold"}`;
}

function order(id: bigint): string {
  return `{"id":${id},"petId":1,"quantity":2,"shipDate":"2026-11-01T00:00:00Z","status":"placed","complete":false}`;
}

function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, PATCH",
      "access-control-allow-headers": "Authorization, Content-Type, If-None-Match, Idempotency-Key",
    },
  });
}
