import { describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const createClient = (server: ScriptedServer) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0 });

const row = {
  seq: 1,
  petId: 7,
  before: null,
  after: { quantity: 5, status: "sold" },
  cause: "import",
  keyId: null,
  keyName: null,
  reason: "opening stock",
  requestId: null,
  at: "2026-11-15T10:00:00.000Z",
};
const page = (seqs: number[], next?: string) => () =>
  Response.json(
    seqs.map((seq) => ({ ...row, seq })),
    { headers: next === undefined ? {} : { link: `<${next}>; rel="next"` } },
  );
const paths = (server: ScriptedServer) => server.received.map(({ path }) => path);

async function seqsOf(rows: AsyncIterable<{ seq: number }>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of rows) seqs.push(seq);
  return seqs;
}

describe("changes", () => {
  test("follows the links, past empty pages, and keeps the filters", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      page([11, 12], "/v1/changes?after=12"),
      page([], "/v1/changes?after=10012"),
      page([10_020]),
    );
    const rows = createClient(server).changes({
      after: 10,
      limit: 2,
      cause: "api",
      key: "key_1",
      since: new Date("2026-11-01T00:00:00Z"),
      until: "2026-11-15T10:00:00+01:00",
    });
    expect(await seqsOf(rows)).toEqual([11, 12, 10_020]);
    const range = "since=2026-11-01T00%3A00%3A00.000Z&until=2026-11-15T10%3A00%3A00%2B01%3A00";
    expect(paths(server)).toEqual(
      [10, 12, 10_012].map(
        (after) => `/v1/changes?limit=2&after=${after}&${range}&cause=api&key=key_1`,
      ),
    );
  });

  test("requests the next page only when it is needed", async () => {
    await using server = new ScriptedServer();
    server.enqueue(page([1, 2], "/v1/changes?after=2"));
    for await (const { seq } of createClient(server).changes()) if (seq === 2) break;
    expect(paths(server)).toEqual(["/v1/changes"]);
  });

  test("ends with an error if a link does not lead on, so that it cannot run for ever", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const link of ["after=5", "after=4", "limit=5", "after=x"]) {
      server.enqueue(page([6], `/v1/changes?${link}`));
      const error = await rejectionOf(seqsOf(client.changes({ after: 5 })));
      expect(isApiError(error) && error.code).toBe("unexpected_answer");
    }
    server.enqueue(page([4], "/v1/inventory/7/history?before=5"));
    const error = await rejectionOf(seqsOf(client.history(7, { before: 5 })));
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(server.received).toHaveLength(5);
  });

  test("never sends the key to the host of a link", async () => {
    await using server = new ScriptedServer();
    await using otherHost = new ScriptedServer();
    server.enqueue(page([1], `${otherHost.baseUrl}/changes?after=1`));
    await seqsOf(createClient(server).changes());
    expect(otherHost.received).toEqual([]);
    expect(paths(server)).toEqual(["/v1/changes", "/v1/changes?after=1"]);
  });

  test("rejects invalid positions and times, and sends nothing", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const after of [-1, 1.5, 2 ** 53, -1n, 2n ** 60n]) {
      expect(await rejectionOf(client.listChanges({ after }))).toBeInstanceOf(RangeError);
    }
    for (const since of [new Date(Number.NaN), "yesterday", "", 5 as unknown as string]) {
      expect(await rejectionOf(client.listChanges({ since }))).toBeInstanceOf(TypeError);
    }
    expect(server.received).toEqual([]);
  });
});

describe("history", () => {
  test("goes from the newest row to the oldest, page by page", async () => {
    await using server = new ScriptedServer();
    server.enqueue(page([9, 4], "/v1/inventory/7/history?before=4&limit=2"), page([2]));
    expect(await seqsOf(createClient(server).history(7n, { limit: 2 }))).toEqual([9, 4, 2]);
    expect(paths(server)).toEqual([
      "/v1/inventory/7/history?limit=2",
      "/v1/inventory/7/history?limit=2&before=4",
    ]);
  });
});

describe("listChanges and listHistory", () => {
  test("return one page and the start of the next", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    server.enqueue(page([1], "/v1/changes?after=1"), page([]));
    expect(await client.listChanges()).toEqual({
      rows: [{ ...row, petId: 7n, after: { quantity: 5, status: "sold" } }],
      nextAfter: 1,
    });
    expect(await client.listChanges({ after: 1n })).toEqual({ rows: [], nextAfter: null });
    server.enqueue(page([3], "/v1/inventory/7/history?before=3"));
    const { value, response } = await client.listHistory(7).withResponse();
    expect([value.rows.length, value.nextBefore]).toEqual([1, 3]);
    expect(JSON.stringify(value.rows)).toBe(response.text);
  });

  test("report a row that does not match the contract, but accept unknown causes and fields", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const mistakes = {
      seq: "1",
      petId: "7",
      before: undefined,
      after: { quantity: 1 },
      cause: null,
      keyId: 5,
      reason: undefined,
      at: 0,
    };
    for (const [field, value] of Object.entries(mistakes)) {
      server.enqueue(() => Response.json([{ ...row, [field]: value }]));
      const error = await rejectionOf(client.listChanges());
      expect(isApiError(error) && error.code).toBe("unexpected_answer");
    }
    const later = { ...row, cause: "console", after: { quantity: 1, status: "sold", shelf: 3 } };
    server.enqueue(() => Response.json([later]));
    expect((await client.listChanges()).rows).toEqual([{ ...later, petId: 7n }] as never);
  });
});

test("ledgerHead returns the seq and the hash of the last row", async () => {
  await using server = new ScriptedServer();
  const head = { seq: 0, hash: "e3".repeat(32), at: null };
  server.enqueue(() => Response.json(head));
  expect(await createClient(server).ledgerHead()).toEqual(head);
  expect(paths(server)).toEqual(["/v1/changes/head"]);
});

describe("snapshot and diff", () => {
  test("accept a Date, text, and a seq as number or bigint", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const at = new Date("2026-11-15T10:00:00Z");
    for (const moment of [at, "2026-11-15T10:00:00+01:00", "2026-11-15", 42, 42n, 0]) {
      await client.snapshot(moment);
    }
    await client.diff(at, 42);
    expect(paths(server)).toEqual([
      "/v1/snapshots/2026-11-15T10%3A00%3A00.000Z",
      "/v1/snapshots/2026-11-15T10%3A00%3A00%2B01%3A00",
      "/v1/snapshots/2026-11-15",
      "/v1/snapshots/42",
      "/v1/snapshots/42",
      "/v1/snapshots/0",
      "/v1/snapshots/2026-11-15T10%3A00%3A00.000Z/diff?to=42",
    ]);
  });

  test("reject an invalid moment, and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    for (const moment of [new Date(Number.NaN), "", "..", "now", -1, 1.5, {} as Date]) {
      expect(await rejectionOf(client.snapshot(moment))).toBeInstanceOf(Error);
      expect(await rejectionOf(client.diff(1, moment))).toBeInstanceOf(Error);
    }
    expect(server.received).toEqual([]);
  });

  test("return entries and differences with exact ids", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const id = "9223372036854775807";
    server.enqueue(
      () => new Response(`[{"petId":${id},"quantity":1,"status":"sold"}]`),
      () => new Response(`[{"petId":${id},"before":null,"after":{"quantity":1,"status":"sold"}}]`),
    );
    expect(await client.snapshot(1)).toEqual([{ petId: BigInt(id), quantity: 1, status: "sold" }]);
    const { value, response } = await client.diff(0, 1).withResponse();
    const after = { quantity: 1, status: "sold" } as const;
    expect(value).toEqual([{ petId: BigInt(id), before: null, after }]);
    expect(JSON.stringify(value)).toBe(response.text);
  });
});
