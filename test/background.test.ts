import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { every, inBackground } from "../src/domain/running/background.ts";
import { turns } from "./support/committing.ts";
import { until } from "./support/until.ts";

test("work in the background that fails is logged once, counted, and logged again when it succeeds", async () => {
  const logged: unknown[] = [];
  let isBroken = true;
  for (const isAsync of [false, true]) {
    const work = () => {
      if (isBroken) throw new Error("no disk");
    };
    const run = inBackground(
      "saving",
      (event, details) => logged.push({ event, ...details }),
      isAsync ? async () => work() : work,
    );
    isBroken = true;
    for (let turn = 0; turn < 5; turn++) run();
    await turns(1);
    expect(logged.splice(0)).toEqual([
      { event: "task failed", task: "saving", error: "Error: no disk" },
    ]);
    isBroken = false;
    run();
    run();
    await turns(1);
    expect(logged.splice(0)).toEqual([
      {
        event: "task succeeded again",
        task: "saving",
        failures: 5,
        durationMs: expect.any(Number),
      },
    ]);
  }
});

/** Lets the shortest interval pass this often. */
async function intervals(count: number): Promise<void> {
  let passed = 0;
  const counting = () => {
    passed += 1;
  };
  const stop = every(1, "counting", () => {}, counting);
  await until(() => passed >= count, 1_000, "the intervals");
  stop();
}

test("work at an interval never runs twice at once, and logs nothing once it is stopped", async () => {
  const logged: string[] = [];
  const failing = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let runs = 0;
  const work = () => {
    runs += 1;
    begun.resolve();
    return failing.promise;
  };
  const stop = every(1, "reading", (event) => void logged.push(event), work);
  await begun.promise;
  await intervals(5);
  expect(runs).toBe(1);
  stop();
  failing.reject(new Error("closed"));
  await intervals(5);
  expect(runs).toBe(1);
  expect(logged).toEqual([]);
});

/** Timers and listeners outside background.ts, each with the reason why no failure is lost. */
const exceptions: Record<string, string> = {
  "src/domain/running/background.ts": "the place for them",
  "src/domain/commits/commits.ts": "rejects promises",
  "src/domain/inventory/follower.ts":
    "rejections are caught; the next request meets the same failure",
  "src/compose/child.ts": "ends a process, which catches",
  "src/http/feed/stream.ts": "ends a stream, which only removes it from collections",
  "src/http/messages/requests.ts": "rejects a promise",
  "src/http/server/server.ts": "resolves a promise",
  "src/http/tls/front.ts": "destroys a connection",
  "src/http/snapshots/places.ts": "resolves a promise",
  "src/http/snapshots/responses.ts": "aborts a signal",
  "src/cli/follow.ts": "ends the process",
  "src/cli/interruption.ts": "ends the process",
  "src/cli/serve.ts": "ends the process",
  "src/log/writer.ts": "writes, which reports errors to a callback",
  "src/main.ts": "ends the process",
  "src/limits/strikes.ts": "flushes, which catches and logs",
  "src/store/postgres/engine/reconnecting-connection.ts": "rejects a promise",
  "src/store/postgres/inspection.ts": "closes a connection, which catches",
  "src/store/postgres/engine/session.ts": "closes a connection, which catches",
  "src/store/sqlite/writing/writer-worker.ts":
    "catches; what it misses reaches onerror of the other thread",
  "src/traces/exporter.ts": "aborts a signal",
  "src/webhooks/exchange.ts": "destroys a request",
  "src/webhooks/sender.ts": "aborts a signal, rejects a promise",
};

test("every timer and every listener catches what it throws", () => {
  const pattern =
    /\bset(?:Interval|Timeout)\(|process\.\w*\.?on\(|\.on\w+ = (?!inBackground\()|addEventListener\(/;
  const runsInBrowser = /^src\/(?:console|http\/docs\/browser)\//;
  const found = [...new Bun.Glob("src/**/*.ts").scanSync()].filter(
    (path) => !runsInBrowser.test(path) && pattern.test(readFileSync(path, "utf8")),
  );
  expect(found.sort()).toEqual(Object.keys(exceptions).sort());
  const intervals = found.filter((path) => readFileSync(path, "utf8").includes("setInterval("));
  expect(intervals).toEqual(["src/domain/running/background.ts"]);
});
