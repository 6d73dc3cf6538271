import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCheckedLoad } from "../bench/checked-load.ts";
import {
  compareVersions,
  estimate,
  judge,
  median,
  noiseOf,
  type Start,
} from "../bench/comparison.ts";
import { cpuMicrosecondsBetween, readCpu } from "../bench/cpu.ts";
import { Delays } from "../bench/delays.ts";
import { writeBlock } from "../bench/docs.ts";
import type { Measured } from "../bench/generator.ts";
import { Listeners, readLastSeq } from "../bench/listeners.ts";
import { readOptions } from "../bench/options.ts";
import { runScripts } from "../bench/run-scripts.ts";
import { SharedStream } from "../bench/shared-stream.ts";
import { scriptsFor } from "../bench/work.ts";
import { commitOf, releases } from "../scripts/releases.ts";
import { startTestService } from "./support/service.ts";

const root = join(import.meta.dir, "..");

test("under parallel reads and writes every response is correct, and no read is stale", async () => {
  const service = await startTestService("sqlite");
  try {
    await service.addPets(...Array.from({ length: 50 }, (_, at) => ({ petId: BigInt(at + 1) })));
    const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
    const { text: key } = await service.issueKey({ plan: "enterprise", limits });
    const load = { url: service.baseUrl, key, durationMs: 300 };
    const { gets, patches } = await runCheckedLoad(load);
    expect(gets).toBeGreaterThan(10);
    expect(patches).toBeGreaterThan(10);
  } finally {
    await service.stop();
  }
});

test("beside paced updates every listener receives every change once and in order", async () => {
  const service = await startTestService("sqlite");
  const listeners = new Listeners();
  try {
    await service.addPets(...Array.from({ length: 50 }, (_, at) => ({ petId: BigInt(at + 1) })));
    const limits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
    const { text: key } = await service.issueKey({ plan: "enterprise", limits });
    const { hostname, port } = new URL(service.baseUrl);
    const target = { host: hostname, port: Number(port), key };
    const first = await readLastSeq(target);
    // One of the ten streams that a key may have is needed to read the last row.
    await listeners.open(target, 9);
    const scripts = scriptsFor(target, { kind: "patch", connections: 8, entries: 50 });
    const { patch, seconds } = await runScripts(target, scripts, 600, 200);
    expect(patch.requests).toBeWithin(8, 121);
    expect(seconds).toBeGreaterThan(0.5);
    const last = await readLastSeq(target);
    expect(last - first).toBe(patch.requests);
    const report = await listeners.awaitRow(last, 10_000);
    expect(report).toMatchObject({ events: 9 * patch.requests, seq: last });
  } finally {
    await listeners.stop();
    await service.stop();
  }
});

test("a listener notices a change that is missing, repeated or different", () => {
  const event = (seq: number, at = "2026-01-01T00:00:00.000Z") =>
    `id: e-${seq}\nevent: change\ndata: {"seq":${seq},"petId":1,"at":"${at}"}\n\n`;
  const receive = (stream: SharedStream, offset: number, text: string) =>
    stream.receive(offset, Buffer.from(text));
  const stream = new SharedStream(6);
  const text = event(7) + event(8);
  // In two parts, and a second listener behind the first.
  receive(stream, 0, text.slice(0, 50));
  receive(stream, 50, text.slice(50));
  receive(stream, 0, text);
  const delays = new Delays();
  expect(stream.countEvents(0, text.length - 1, delays)).toBe(1);
  expect(stream.countEvents(1, text.length, delays)).toBe(2);
  expect(delays.summary()!.p50Ms).toBeGreaterThan(0);
  expect(() => receive(stream, text.length, event(10))).toThrow("Expected row 9");
  expect(() => receive(new SharedStream(6), 0, event(7) + event(7))).toThrow("Expected row 8");
  const other = event(7, "2026-01-01T00:00:00.001Z");
  expect(() => receive(stream, 0, other)).toThrow("different bytes");
});

test("connections that choose pets at random share none, and reach all of them", () => {
  const target = { host: "127.0.0.1", port: 1, key: "unused" };
  const work = { kind: "patch", connections: 3, entries: 10, isRandom: true } as const;
  const chosen = scriptsFor(target, work).map((script) => {
    const paths = Array.from({ length: 500 }, () => String(script.next()).split(" ")[1]!);
    return [...new Set(paths)].map((path) => Number(path.split("/").at(-1))).sort((a, b) => a - b);
  });
  expect(chosen).toEqual([
    [1, 4, 7, 10],
    [2, 5, 8],
    [3, 6, 9],
  ]);
});

/** A run of 2 s with this number of GETs and this CPU time per response. */
function run(requests: number, cpuMicroseconds: number | undefined): Measured {
  const get = { requests };
  return { seconds: 2, throughput: requests / 2, get, cpuMicroseconds } as unknown as Measured;
}

type Costs = [old: number, fresh: number, again: number];

function rounds(...costs: Costs[]): Start {
  return costs.map(([old, fresh, again]) => ({
    old: run(1000 / old, old),
    new: run(1000 / fresh, fresh),
    "old again": run(1000 / again, again),
  }));
}

/** Six starts with one round each, as few as give an interval. */
function sixStarts(one: Costs, two = one, three = one): Start[] {
  return [one, two, three, one, two, three].map((costs) => rounds(costs));
}

const scenario = { title: "GET", kind: "get", bound: 0.03 } as const;

test("two versions are compared within each round, so a drift of the machine cancels out", () => {
  // The machine becomes three times slower; in every round the new version costs 10 % more.
  const drifting = sixStarts([10, 11, 10], [20, 22, 20], [30, 33, 30]);
  const [cpu, rate] = compareVersions(scenario, drifting);
  expect(cpu).toMatchObject({ scenario: "GET", measure: "CPU µs/response", rounds: 6 });
  expect(cpu!.newToOld.median).toBeCloseTo(1.1);
  expect(cpu!.oldToOld.median).toBeCloseTo(1);
  expect(rate!.measure).toBe("responses/s");
  expect(rate!.newToOld.median).toBeCloseTo(1 / 1.1);
  expect([cpu!.result, rate!.result]).toEqual(["beyond", "beyond"]);
});

test("a round in which one version was disturbed changes the best-of ratio, not the median", () => {
  const disturbed = rounds([10, 30, 10], [8, 10.1, 10]);
  const start = rounds([10, 10.1, 10], [10, 10.1, 10], [10, 10.1, 10]).concat(disturbed);
  const [cpu] = compareVersions(scenario, Array<Start>(6).fill(start));
  expect(cpu!.newToOld.median).toBeCloseTo(1.01);
  expect(cpu!.newToOld.interval!.high).toBeCloseTo(1.01);
  expect(cpu!.newToOld.best).toBeCloseTo(10.1 / 8);
  expect(cpu!.oldToOld).toMatchObject({ median: 1, best: 1.25 });
});

test("rounds with the same processes count as one, so they alone give no interval", () => {
  const start = rounds(...Array<Costs>(100).fill([10, 10, 10]));
  const [cpu] = compareVersions(scenario, Array<Start>(5).fill(start));
  expect(cpu!.newToOld.interval).toBeUndefined();
  expect(noiseOf(cpu!)).toBe(Number.POSITIVE_INFINITY);
  expect(cpu!.result).toBe("noise larger than the bound");
});

test("a version that is as fast or faster is within its bound", () => {
  const same = compareVersions(scenario, sixStarts([10, 10, 10], [20, 20.2, 20], [30, 30, 30]));
  expect(same.map(({ result }) => result)).toEqual(["within", "within"]);
  const faster = compareVersions(scenario, sixStarts([10, 5, 10], [20, 10, 20]));
  expect(faster.map(({ result }) => result)).toEqual(["within", "within"]);
});

test("noise larger than the bound leaves a comparison open, unless the loss is clear", () => {
  const oldDiffersFromOld = compareVersions(scenario, sixStarts([10, 10.2, 11], [20, 20.4, 22]));
  expect(oldDiffersFromOld[0]!.result).toBe("noise larger than the bound");
  const scattered = sixStarts([10, 9, 10], [10, 10.2, 10], [10, 12, 10]);
  const [cpu] = compareVersions(scenario, scattered);
  expect(noiseOf(cpu!)).toBeCloseTo(0.3);
  expect(cpu!.result).toBe("noise larger than the bound");
  expect(judge(0.3, 0.05, 0.03)).toBe("beyond");
  expect(judge(-0.3, 0.05, 0.03)).toBe("within");
  expect(judge(0.04, 0.02, 0.03)).toBe("beyond");
  expect(judge(0.02, 0.02, 0.03)).toBe("within");
});

test("without a CPU time only the rates are compared", () => {
  const unknown = { old: run(10, undefined), new: run(10, undefined) };
  const round = { ...unknown, "old again": run(10, undefined) };
  const comparisons = compareVersions(scenario, [[round]]);
  expect(comparisons.map(({ measure }) => measure)).toEqual(["responses/s"]);
});

test("a median lies between the two middle values", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([7, 1, 9])).toBe(7);
});

test("a stray value hardly moves the median, and its interval needs six values", () => {
  const values = [1.01, 0.97, 1.04, 0.99, 1.02, 1.0, 0.98, 1.03, 1.05, 9];
  expect(estimate(values.slice(0, 5)).interval).toBeUndefined();
  expect(estimate(values.slice(0, 6)).interval).toEqual({ low: 0.97, high: 1.04 });
  const { median: middle, interval } = estimate(values.slice(0, 9));
  expect(middle).toBeCloseTo(1.01);
  expect(interval!.low).toBeCloseTo(0.985, 4);
  expect(interval!.high).toBeCloseTo(1.035, 4);
  expect(estimate(values).median).toBeCloseTo(1.015, 4);
});

test("the CPU time of a process includes threads that started meanwhile", () => {
  const before = new Map([
    ["1", 5_000],
    ["2", 9_000],
  ]);
  const after = new Map([
    ["1", 8_000],
    ["3", 4_000],
  ]);
  expect(cpuMicrosecondsBetween(before, after)).toBe(7);
  expect(cpuMicrosecondsBetween(undefined, after)).toBeUndefined();
});

test("the CPU time of a busy process grows, and is unknown without /proc", () => {
  const before = readCpu(process.pid);
  const begun = process.cpuUsage();
  while (process.cpuUsage(begun).user < 30_000);
  const used = cpuMicrosecondsBetween(before, readCpu(process.pid));
  if (existsSync("/proc/self/stat")) expect(used).toBeGreaterThan(1000);
  else expect(used).toBeUndefined();
});

test("--beside needs a checkout with its dependencies, before anything runs", () => {
  expect(() => readOptions(["--beside", import.meta.dir])).toThrow("has no bin/petstore");
  const { sections, beside } = readOptions(["--beside", root]);
  expect([...sections]).toEqual(["beside"]);
  expect(beside).toBe(root);
});

test("--beside takes a release by its number", () => {
  expect(readOptions(["--beside", "0.1.0"])).toMatchObject({ beside: "0.1.0", rounds: undefined });
  expect(readOptions(["--beside", "0.1.0", "--repeats", "12"]).rounds).toBe(12);
  expect(() => readOptions(["--beside", "0.0.9"])).toThrow("There is no release 0.0.9. Use 0.1.0,");
  for (const release of releases) expect(commitOf(release)).toMatch(/^[0-9a-f]{40}$/);
});

test("--docs replaces one block of benchmarks.md, and nothing around it", () => {
  const directory = mkdtempSync(join(tmpdir(), "bench-docs-"));
  const file = join(directory, "benchmarks.md");
  try {
    const before = readFileSync(join(root, "docs/benchmarks.md"), "utf8");
    writeFileSync(file, before);
    writeBlock("comparison", "new text", directory);
    const after = readFileSync(file, "utf8");
    const [start, end] = [
      "--beside VERSION --docs docs -->",
      "<!-- end of comparison -->",
    ] as const;
    expect(after).toContain(`${start}\n\nnew text\n\n${end}`);
    expect(after.split(start)[0]).toBe(before.split(start)[0]!);
    expect(after.split(end)[1]).toBe(before.split(end)[1]!);
    writeFileSync(file, "no markers");
    expect(() => writeBlock("figures", "new text", directory)).toThrow("markers of the figures");
    expect(readFileSync(file, "utf8")).toBe("no markers");
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("--scenario selects among the scenarios of --beside", () => {
  const { scenarios } = readOptions(["--beside", root, "--scenario", "get,patch-postgres"]);
  expect([...scenarios]).toEqual(["get", "patch-postgres"]);
  expect(readOptions(["--beside", root]).scenarios.size).toBe(7);
  expect(() => readOptions(["--beside", root, "--scenario", "put"])).toThrow(
    "Unknown scenario put",
  );
  expect(() => readOptions(["--scenario", "get"])).toThrow("--scenario needs --beside");
});

test("--long adds the sections that take long, and each can be named alone", () => {
  const long = [
    ...(["ledger", "snapshots", "history", "idempotency"] as const),
    ...(["postgres-growth", "postgres-vacuum", "budget"] as const),
  ];
  const selected = (...flags: string[]) => readOptions(flags).sections;
  for (const section of long) {
    expect(selected().has(section)).toBe(false);
    expect(selected("--long").has(section)).toBe(true);
    expect([...selected("--only", section)]).toEqual([section]);
  }
});

test("--engine selects the sections of one engine", () => {
  const selected = (...flags: string[]) => [...readOptions(["--engine", ...flags]).sections];
  expect(selected("postgres")).toEqual(["postgres"]);
  const long = selected("postgres", "--long");
  expect(long).toEqual(["postgres", "postgres-growth", "postgres-vacuum"]);
  const sqlite = selected("sqlite", "--long");
  expect(sqlite).toContain("ledger");
  expect(sqlite.filter((section) => section.startsWith("postgres"))).toEqual([]);
});
