import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { SQL } from "bun";
import type { GrantedScope } from "../../src/domain/keys/keys.ts";
import { startCheckpoints } from "../../src/domain/snapshots/checkpoints.ts";
import {
  createSnapshotResponses,
  type SnapshotBounds,
  type SnapshotCall,
} from "../../src/http/snapshots/responses.ts";
import { turns } from "../support/committing.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const bounds = { preparedMax: 1, waitingMax: 1, sentMax: 1, timeoutMs: 8_000 };
const silent = () => {};

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function callOf(
  keyId: string,
  signal = new AbortController().signal,
  scope: GrantedScope = "history:read",
): SnapshotCall {
  return { request: { method: "GET", signal }, caller: { keyId, scopes: [scope] } };
}

/** Responses whose preparation lasts until the test ends it, each with a name that begins with its key. */
function controlledResponses(given: Partial<SnapshotBounds>) {
  const { open } = createSnapshotResponses({ ...bounds, ...given }, performance.now, silent);
  const preparing = new Map<string, () => void>();
  const opened: Promise<unknown>[] = [];
  return {
    /** Returns the reason if it is rejected, or else the body. */
    open(name: string, scope?: GrantedScope) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const prepare = async () => {
        preparing.set(name, resolve);
        await promise;
        return once(name);
      };
      const body = open(callOf(name[0]!, undefined, scope), prepare).catch(({ reason }) => reason);
      opened.push(body);
      return body;
    },
    /** The names of those that are being prepared. */
    async preparing(): Promise<string[]> {
      await turns(1);
      return [...preparing.keys()];
    },
    /** Ends the preparation of one, and returns the names of those that are being prepared then. */
    async end(name: string): Promise<string[]> {
      preparing.get(name)!();
      preparing.delete(name);
      await turns(1);
      return [...preparing.keys()];
    },
  };
}

describe("responses that are computed for one request", () => {
  test("are prepared one after the other, and rejected when too many wait", async () => {
    const { open } = createSnapshotResponses({ ...bounds, sentMax: 9 }, performance.now, silent);
    const order: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = open(callOf("a"), async () => {
      await promise;
      order.push("first");
      return once("1");
    });
    const second = open(callOf("a"), async () => {
      order.push("second");
      return once("2");
    });
    expect(open(callOf("a"), async () => once("3"))).rejects.toThrow("Too many requests");
    resolve();
    expect(await new Response(await first).text()).toBe("1");
    expect(await new Response(await second).text()).toBe("2");
    expect(order).toEqual(["first", "second"]);
    const third = await open(callOf("a"), async () => once("3"));
    expect(await new Response(third).text()).toBe("3");
  });

  test("are not prepared further once their client is gone, and leave their place", async () => {
    const { open } = createSnapshotResponses(bounds, performance.now, silent);
    const [leaving, waiting] = [new AbortController(), new AbortController()];
    const first = open(callOf("a", leaving.signal), async (signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("stopped");
    });
    const second = open(callOf("a", waiting.signal), async () => once("2"));
    waiting.abort();
    expect(second).rejects.toThrow("Too many requests");
    await second.catch(silent);
    leaving.abort();
    expect(first).rejects.toThrow("stopped");
    await first.catch(silent);
    const third = await open(callOf("a"), async () => once("3"));
    expect(await new Response(third).text()).toBe("3");
  });

  test("of one key take half of the places, and those of another key are prepared meanwhile", async () => {
    const { open, preparing, end } = controlledResponses({
      preparedMax: 2,
      waitingMax: 4,
      sentMax: 99,
    });
    const own = ["a1", "a2", "a3", "a4", "a5"].map((name) => open(name));
    expect(await preparing()).toEqual(["a1"]);
    // One is prepared and two wait: as many as are left for others.
    expect(await Promise.all(own.slice(3))).toEqual(["tooManyOwnRequests", "tooManyOwnRequests"]);
    open("b1");
    expect(await preparing()).toEqual(["a1", "b1"]);
    open("c1");
    open("d1");
    expect(await open("e1")).toBe("tooManyRequests");
    // Keys take turns.
    expect(await end("b1")).toEqual(["a1", "c1"]);
    expect(await end("a1")).toEqual(["c1", "a2"]);
    expect(await end("c1")).toEqual(["a2", "d1"]);
    expect(await end("a2")).toEqual(["d1", "a3"]);
    expect(await end("d1")).toEqual(["a3"]);
    expect(await end("a3")).toEqual([]);
  });

  test("of operators are prepared first, and are not rejected because clients wait", async () => {
    const { open, preparing, end } = controlledResponses({ waitingMax: 2, sentMax: 99 });
    for (const name of ["a1", "b1", "c1"]) open(name);
    expect(await open("d1")).toBe("tooManyRequests");
    open("o1", "operator");
    expect(await preparing()).toEqual(["a1"]);
    expect(await end("a1")).toEqual(["o1"]);
    expect(await end("o1")).toEqual(["b1"]);
    expect(await end("b1")).toEqual(["c1"]);
    expect(await end("c1")).toEqual([]);
  });

  test("that are sent to clients of one key who do not read leave places for other keys", async () => {
    const { open, preparing, end } = controlledResponses({ preparedMax: 2, sentMax: 3 });
    for (const name of ["a1", "a2"]) {
      open(name);
      await preparing();
      await end(name);
    }
    // Only one of its two is sent: the other waits until it is read or cut off.
    const other = open("b1");
    expect(await preparing()).toEqual(["b1"]);
    await end("b1");
    expect(await new Response(await other).text()).toBe("b1");
  });

  test("end with an error that says to try again if preparing takes too long", async () => {
    const quick = { ...bounds, timeoutMs: 10 };
    const { open } = createSnapshotResponses(quick, performance.now, silent);
    const late = open(callOf("a"), (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(new Error("took too long")));
      return promise;
    });
    expect(late).rejects.toThrow("took too long");
    await late.catch(silent);
  });
});

const entries = 110_000;
/** Long numbers: the response has 9 MB, more than the buffers of a connection take. */
const pets = Array.from({ length: entries }, (_, at) => ({
  petId: BigInt(at) - 2n ** 63n,
  quantity: Number.MAX_SAFE_INTEGER,
}));

/** Requests a path and reads nothing of the response but its first bytes. */
async function stall({ baseUrl }: TestService, path: string, key: string) {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", silent);
  const ended = new Promise((resolve) => socket.once("close", resolve));
  const answered = new Promise((resolve) => socket.once("readable", resolve));
  socket.write(`GET /v1${path} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await answered;
  return {
    leave: () => void socket.destroy(),
    /** Resolves with the end of what it received once its connection is closed. */
    async received(): Promise<string> {
      let tail = "";
      socket.on("data", (bytes) => {
        tail = (tail + bytes.toString("latin1")).slice(-100);
      });
      await ended;
      return tail;
    },
  };
}

describe("a snapshot of many entries", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService("sqlite", {}, { snapshots: bounds });
    ({ text: key } = await service.issueKey());
    await service.addPets(...pets);
  });
  afterAll(() => service.stop());

  test("stops when its client leaves, and frees the place", async () => {
    for (let round = 0; round < 2; round++) {
      const gone = await stall(service, `/snapshots/${entries}`, key);
      gone.leave();
      const other = await service.call("GET", "/snapshots/1", { key });
      expect(other.text).toBe(
        '[{"petId":-9223372036854775808,"quantity":9007199254740991,"status":"available"}]',
      );
    }
    expect(loggedBy(service)).toEqual([]);
  });

  test("is cut off if its client does not read and another needs the place", async () => {
    const slow = await stall(service, `/snapshots/${entries}`, key);
    const other = await fetch(`${service.baseUrl}/snapshots/${entries}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(other.status).toBe(200);
    expect(await other.json()).toHaveLength(entries);
    expect(await slow.received()).not.toEndWith("0\r\n\r\n");
    expect(loggedBy(service)).toEqual([
      JSON.stringify({ event: "slow reader of a snapshot cut off" }),
    ]);
  });
});

async function execute({ databaseUrl }: TestService, text: string): Promise<void> {
  if (databaseUrl.startsWith("sqlite:")) {
    using database = new Database(databaseUrl.slice("sqlite:".length));
    database.run(text);
  } else {
    await using sql = new SQL(databaseUrl, { max: 1 });
    await sql.unsafe(text);
  }
}

test.each([surfaceEngine])(
  "a snapshot on %s that fails half-way does not end like a whole one",
  async (engine) => {
    const service = await startTestService(engine);
    const { text: key } = await service.issueKey();
    // Two parts of a checkpoint, of which the second is removed.
    const count = 9_000;
    await service.addPets(...Array.from({ length: count }, (_, at) => ({ petId: BigInt(at) })));
    const task = startCheckpoints({ store: service.store, log: silent, rowsMin: count });
    await task.run();
    await task.stop();
    await execute(service, `DELETE FROM checkpoint_parts WHERE first_pet_id > 0`);
    const response = await fetch(`${service.baseUrl}/snapshots/${count}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
    expect(response.text()).rejects.toThrow();
    await response.text().catch(silent);
    expect(loggedBy(service)).toEqual([expect.stringContaining("snapshot failed")]);
    expect((await service.call("GET", "/snapshots/1", { key })).status).toBe(200);
    await service.stop();
  },
);

/** What was logged after the import, which makes the service read the list again. */
function loggedBy({ logged }: TestService): readonly string[] {
  return logged.filter((line) => !line.includes("list reloaded"));
}
