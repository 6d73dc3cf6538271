import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServiceOptions } from "../../src/compose/options.ts";
import { type Service, startService } from "../../src/compose.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import type { OrderRecord } from "../../src/domain/catalogue/orders.ts";
import type { PetRecord } from "../../src/domain/catalogue/pets.ts";
import type { Key } from "../../src/domain/keys/keys.ts";
import { issueKey } from "../../src/domain/keys/lifecycle.ts";
import type { Store } from "../../src/domain/store.ts";
import { anEntry } from "./audit.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { checkAgainstContract } from "./contract/response-check.ts";
import { petRow } from "./pets.ts";
import { createdDatabase } from "./postgres-template.ts";
import { fetchTrust } from "./tls.ts";
import { patiently } from "./until.ts";

/** The engines that the service supports. HTTP suites run on each of them. */
export const engines = ["sqlite", "postgres"] as const;
export type Engine = (typeof engines)[number];

/**
 * The engine for tests of what lies above the store: operator API, console, command line, webhooks. The rules of a
 * store and those of the API are tested on both. `npm run test:all` runs the files that name it on PostgreSQL too.
 */
export const surfaceEngine: Engine = process.env.TEST_ENGINE === "postgres" ? "postgres" : "sqlite";

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON.parse reads it. Not exact for 64-bit ids. */
  readonly json: unknown;
}

export interface CallOptions {
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: BodyInit;
  /** False for a connection of its own. */
  readonly keepalive?: boolean;
}

/** The composed service on a real database and a real socket, with a clock that tests move. */
export interface TestService {
  readonly baseUrl: string;
  /** Undefined unless the flag `metrics-port` is given. */
  readonly metricsUrl: string | undefined;
  readonly databaseUrl: string;
  readonly clock: TestClock;
  readonly store: Store;
  /** What the service wrote to its log, except that it created the store. */
  readonly logged: readonly string[];
  /** `path` is relative to the base address, or to the server's root when it starts with "~". */
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /** Issues a key. `fields` replaces fields of the stored key, also by values that no rule allows. */
  issueKey(fields?: Partial<Omit<Key, "id">>): Promise<{ id: string; text: string }>;
  addPets(...pets: readonly (Partial<PetRecord> & { petId: bigint })[]): Promise<void>;
  addOrders(...orders: readonly OrderRecord[]): Promise<void>;
  /** Stops the service and starts it again on the same database, like a deployment. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `bounds` replaces bounds that no flag sets, so that a test reaches them sooner. */
export async function startTestService(
  engine: Engine = "sqlite",
  flags: Record<string, string> = {},
  bounds: Partial<Config> = {},
  extras: Pick<
    ServiceOptions,
    "observer" | "surfaces" | "requestLines" | "program" | "databaseClock" | "acceptOlder"
  > & {
    readonly clock?: TestClock;
  } = {},
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), `petstore-${engine}-`));
  const databaseUrl =
    flags.database ?? (await freshDatabase[engine](folder, flags.env ?? "production"));
  const backups = join(folder, "backups");
  const settings = { port: "0", "backup-folder": backups, ...flags, database: databaseUrl };
  const config = { ...readConfig(settings, {}), ...bounds };
  const { clock = createTestClock() } = extras;
  const logged: string[] = [];
  const log = (event: string, details?: Record<string, unknown>) => {
    if (event !== "store created") logged.push(JSON.stringify({ event, ...details }));
  };
  const options = { config, log, databaseClock: clock, ...extras, clock };
  let service: Service = await startService(options);

  return {
    get baseUrl() {
      return service.baseUrl;
    },
    get metricsUrl() {
      return service.metricsUrl;
    },
    get store() {
      return service.store;
    },
    databaseUrl,
    clock,
    logged,
    call: (method, path, options) => call(service.baseUrl, method, path, options),
    async issueKey(fields = {}) {
      const { keys } = service.store;
      const addKey: typeof keys.addKey = (key, digest) =>
        keys.addKey({ ...key, ...fields }, digest, anEntry);
      const terms = { name: "test", plan: "business" };
      const store = { keys: { ...keys, addKey } };
      const { key, text } = await patiently(() =>
        issueKey(store, config.environment, terms, byCommand(clock.now())),
      );
      return { id: key.id, text };
    },
    async addPets(...pets) {
      await patiently(() =>
        service.store.catalogue.importPets(once(pets.map(petRow)), commandImport("test")),
      );
    },
    async addOrders(...orders) {
      await patiently(() =>
        service.store.catalogue.importOrders(once(orders), commandImport("test")),
      );
    },
    async restart() {
      await service.stop();
      service = await startService(options);
    },
    async stop() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a database for each service, so that tests do not share rows. */
const freshDatabase: Record<Engine, (folder: string, env: string) => Promise<string>> = {
  sqlite: async (folder) => `sqlite:${join(folder, "test.db")}`,
  postgres: (_folder, env) => createdDatabase(env),
};

/**
 * Sends one request. Every response is checked against openapi.json before the test sees it. Of a
 * stream, it returns the headers and closes it; `openFeed` reads streams.
 */
export async function call(
  baseUrl: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<TestResponse> {
  const url = path.startsWith("~") ? new URL(path.slice(1), baseUrl).href : baseUrl + path;
  const headers = new Headers(options.headers);
  if (options.key !== undefined) headers.set("Authorization", `Bearer ${options.key}`);
  const leaving = new AbortController();
  const response = await fetch(url, {
    method,
    headers,
    signal: leaving.signal,
    ...(options.body === undefined ? {} : { body: options.body }),
    keepalive: options.keepalive ?? true,
    ...fetchTrust(url),
  });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const text = isStream ? "" : await response.text();
  if (isStream) leaving.abort();
  const { status } = response;
  const { pathname } = new URL(url);
  checkAgainstContract({ method, pathname, status, headers: response.headers, text });
  return { status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
