import { afterEach, expect, test } from "bun:test";
import { matchesFilter, noFilter } from "../../src/console/activity/change-filter.ts";
import { drillCommand } from "../../src/console/backups/state-cards.tsx";
import { ApiError, request, requestPage } from "../../src/console/client/api.ts";
import { lookForRenames } from "../../src/console/client/renames.ts";
import { retryDelayMs } from "../../src/console/client/retries.ts";
import type { LedgerRow } from "../../src/console/client/types.ts";
import { compareWithNow, isDifferent } from "../../src/console/history/moment-rows.ts";
import { readResult } from "../../src/console/import/upload.ts";
import { loadState, outdatedSince, reload, table } from "../../src/console/stock/state.ts";
import { StockTable } from "../../src/console/stock/table.ts";
import { changeNumber, formatCount } from "../../src/console/texts/formats.ts";
import { dayAndTime, withLocalTimes } from "../../src/console/texts/times.ts";

const { fetch: networkFetch } = globalThis;
afterEach(() => {
  globalThis.fetch = networkFetch;
});

/** Responds to all requests in place of a service. */
function serve(respond: (path: string) => Response): void {
  const served = async (input: unknown) => respond(String(input));
  globalThis.fetch = Object.assign(served, { preconnect: networkFetch.preconnect });
}

function busy(): Response {
  const body = { code: "unavailable", message: "The store is busy.", status: 503 };
  return Response.json(body, { status: 503, headers: { "Retry-After": "0" } });
}

/** Responds like a busy service. Returns how many requests have arrived. */
function serveBusy(): () => number {
  let count = 0;
  serve(() => {
    count += 1;
    return busy();
  });
  return () => count;
}

test("a busy service is asked again, except for a write that it may have applied", async () => {
  for (const [options, count] of [
    [{}, 3],
    [{ method: "POST", body: {}, idempotencyKey: "console-1" }, 3],
    [{ method: "POST", body: {} }, 1],
    [{ method: "PATCH", body: {} }, 1],
    [{ method: "DELETE" }, 1],
  ] as const) {
    const sent = serveBusy();
    const error = await request("/stock", options).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "unavailable", message: "The store is busy." });
    expect(sent()).toBe(count);
  }
});

test("a request that nobody waits for any more is not sent again", async () => {
  const sent = serveBusy();
  const leaving = new AbortController();
  const asked = request("/stock", { signal: leaving.signal }).catch((failure: unknown) => failure);
  leaving.abort("left");
  expect(await asked).toBe("left");
  expect(sent()).toBe(1);
});

test("a connection that is lost within a response is reported as lost", async () => {
  const lost = {
    pull: (stream: { error(reason: Error): void }) => stream.error(new Error("lost")),
  };
  serve(() => new Response(new ReadableStream(lost)));
  for (const asked of [request("/stock"), requestPage("/audit")]) {
    const error = await asked.catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: "offline", status: 0 });
  }
});

test("stock that cannot be loaded again stays in view, marked, until it can", async () => {
  const entry = { petId: 1, name: "Rex", category: null, status: "available", version: 1 };
  let quantity = 4;
  let failures = 0;
  serve((path) => {
    if (!path.endsWith("/stock")) return Response.json([]);
    failures -= 1;
    return failures >= 0 ? busy() : Response.json({ entries: [{ ...entry, quantity }] });
  });
  await lookForRenames();
  await reload();
  expect(loadState.value).toEqual({ kind: "ready", value: null });
  const seen: unknown[] = [];
  const stop = outdatedSince.subscribe((since) => {
    seen.push([since === undefined ? "current" : "outdated", table.value.quantities[0]]);
  });
  quantity = 9;
  // One more than the attempts of a request.
  failures = 4;
  await reload();
  stop();
  expect(seen).toEqual([
    ["current", 4],
    ["outdated", 4],
    ["current", 9],
  ]);
});

test("the next attempt waits as long as the service asks for, up to ten seconds, and a little more", () => {
  expect(retryDelayMs(1, "2", 0)).toBe(2_000);
  expect(retryDelayMs(1, "2", 0.5)).toBe(2_200);
  expect(retryDelayMs(1, "3600", 0)).toBe(10_000);
  for (const unreadable of [null, "", "soon", "-1", "1e9"]) {
    expect(retryDelayMs(1, unreadable, 0)).toBe(200);
    expect(retryDelayMs(3, unreadable, 1)).toBe(2_400);
    expect(retryDelayMs(99, unreadable, 1)).toBe(45_000);
  }
});

test("times in a text of the service are shown like all other times", () => {
  const at = Date.UTC(2026, 10, 3, 14, 5, 9);
  const text = "The last backup is from 2026-11-03T14:05:09Z.";
  expect(withLocalTimes(text)).toBe(`The last backup is from ${dayAndTime(at)}.`);
  expect(withLocalTimes("Key '2026' is banned.")).toBe("Key '2026' is banned.");
});

test("counts have separators, and the numbers of changes have none", () => {
  expect(formatCount(9_007_199_254_740_991)).toBe("9,007,199,254,740,991");
  expect(changeNumber(1_207)).toBe("#1207");
});

test("the command for a drill names the whole path, in a form that a shell keeps together", () => {
  const name = "petstore-2026-11-03.petstore";
  expect(drillCommand("/var/backups", name)).toBe(`petstore drill /var/backups/${name}`);
  expect(drillCommand("/mnt/Anna's disk", name)).toBe(
    `petstore drill '/mnt/Anna'\\''s disk/${name}'`,
  );
  expect(drillCommand("/var/backups", undefined)).toBe("petstore drill FILE");
});

test("a new change is in the range that begins with its time, and not in the one that ends with it", () => {
  const at = "2026-11-03T14:00:00.000Z";
  const row = { petId: "7", keyId: null, cause: "import", at } as LedgerRow;
  expect(matchesFilter({ ...noFilter, petId: "7", since: at }, row)).toBe(true);
  expect(matchesFilter({ ...noFilter, petId: "7", until: at }, row)).toBe(false);
});

test("of an earlier inventory, the pets are shown whose stock is another one now, or that came or went", () => {
  const entry = (petId: string, quantity: number) => ({ petId, quantity, status: "sold" }) as const;
  const details = { name: "Rex", category: null, version: 9 };
  const now = [entry("1", 4), entry("2", 6), entry("4", 0)].map((one) => ({ ...one, ...details }));
  const past = { seq: 3, entries: [entry("1", 4), entry("2", 5), entry("3", 0)] };
  const rows = compareWithNow(past, new StockTable(now)).filter(isDifferent);
  expect(rows.map(({ petId }) => petId)).toEqual(["2", "3", "4"]);
});

test("ids in the differences of an import keep all their digits", async () => {
  const difference = `{"id":9223372036854775807,"field":"petId","from":-9223372036854775808,"to":9007199254740993}`;
  const text = `{"dryRun":true,"differences":{"total":1,"rows":[${difference}]}}`;
  const { differences } = await readResult(200, text);
  expect(differences.rows).toEqual([
    {
      id: "9223372036854775807",
      field: "petId",
      from: "-9223372036854775808",
      to: "9007199254740993",
    },
  ]);
  await expect(readResult(413, "<html>")).rejects.toThrow("status 413");
});
