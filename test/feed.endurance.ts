import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { Listeners, readLastSeq } from "../bench/listeners.ts";
import { memoryOf } from "../bench/processes.ts";
import { badReaderKinds, createBadReaders } from "./support/bad-readers.ts";
import { upTo } from "./support/history.ts";
import { boundless } from "./support/instances/fleet.ts";
import { openWorkspace, type Workspace } from "./support/process.ts";
import { until } from "./support/until.ts";

/** ENDURANCE_MINUTES shortens the run. Below two minutes its bounds say little. */
const minutes = Number(process.env.ENDURANCE_MINUTES ?? 10);
const samplesCount = 40;
const healthyListeners = 20;
/** Five bad readers each time, and 100 changes each time: 2,000 changes a second. */
const openEveryMs = 500;
const writeEveryMs = 50;
const pets = upTo(100);
const residentMbGrowthMax = 32;
const descriptorsGrowthMax = 60;

interface Sample {
  readonly seconds: number;
  readonly residentMb: number;
  readonly descriptors: number;
  /** Sockets of the service. All but a few are streams. */
  readonly sockets: number;
}

test(
  `${minutes} minutes of clients that do not read their streams leave memory and descriptors flat`,
  async () => {
    const workspace = openWorkspace();
    const listeners = new Listeners();
    let writing: Promise<void> | undefined;
    let hasStopped = false;
    try {
      const { pid, baseUrl, key } = await startService(workspace);
      const { hostname, port } = new URL(baseUrl);
      const target = { host: hostname, port: Number(port), key };
      const before = sampleOf(pid, 0);
      await listeners.open(target, healthyListeners);
      const bad = createBadReaders(baseUrl, key);
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1_000;
      const isOver = () => seconds() > minutes * 60;

      writing = repeat(
        writeEveryMs,
        () => hasStopped,
        (turn) => write(baseUrl, key, turn),
      );
      let opened = 0;
      const opening = repeat(openEveryMs, isOver, async () => {
        for (const kind of badReaderKinds) bad.open(kind);
        opened += badReaderKinds.length;
      });
      const samples: Sample[] = [];
      const sampling = repeat((minutes * 60_000) / samplesCount, isOver, async () => {
        const sample = sampleOf(pid, seconds());
        samples.push(sample);
        const { delay } = await listeners.report();
        console.log(JSON.stringify({ ...sample, opened, delayMs: delay?.p99Ms }));
      });
      await Promise.all([opening, sampling]);
      // The abandoned sockets are still open on this side, so the service has to notice on its own.
      const isClosed = () => sampleOf(pid, 0).sockets <= before.sockets + healthyListeners + 5;
      await until(isClosed, 90_000, "bad readers are left");
      hasStopped = true;
      await writing;
      await listeners.awaitRow(await readLastSeq(target), 60_000);
      console.log(JSON.stringify({ before, after: sampleOf(pid, seconds()) }));
      bad.leave();

      const third = samples.filter((sample) => sample.seconds <= minutes * 20);
      const end = samples.slice(-5);
      const growth = (of: (sample: Sample) => number) =>
        Math.min(...end.map(of)) - Math.max(...third.map(of));
      expect(growth(({ residentMb }) => residentMb)).toBeLessThan(residentMbGrowthMax);
      expect(growth(({ descriptors }) => descriptors)).toBeLessThan(descriptorsGrowthMax);
    } finally {
      hasStopped = true;
      await writing?.catch(() => {});
      await listeners.stop();
      await workspace.leave();
    }
  },
  (minutes + 5) * 60_000,
);

async function startService(workspace: Workspace) {
  const stdin = pets.map((petId) => `{"petId":${petId},"name":"Pet"}`).join("\n");
  await workspace.run(["pets", "import", "-"], { stdin });
  const create = ["keys", "create", "--name", "endurance", ...boundless];
  const { key } = await workspace.json<{ key: string }>(...create);
  const served = await workspace.serve(["serve", "--streams-per-key", "100000"]);
  return { ...served, key };
}

/** Sets every pet to this quantity. */
async function write(baseUrl: string, key: string, quantity: number): Promise<void> {
  const response = await fetch(`${baseUrl}/changes`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ changes: pets.map((petId) => ({ petId, quantity })) }),
  });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
}

function sampleOf(pid: number, seconds: number): Sample {
  const folder = `/proc/${pid}/fd`;
  const targets = readdirSync(folder).map((descriptor) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`);
    } catch {
      return "closed meanwhile";
    }
  });
  return {
    seconds: Math.round(seconds),
    residentMb: Math.round(memoryOf(pid)!.residentMb),
    descriptors: targets.length,
    sockets: targets.filter((target) => target.startsWith("socket:")).length,
  };
}

/** Starts the work at an interval, never twice at once, until it is over. */
async function repeat(
  everyMs: number,
  isOver: () => boolean,
  work: (turn: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  for (let turn = 0; !isOver(); turn++) {
    await Bun.sleep(Math.max(0, startedAt + turn * everyMs - performance.now()));
    await work(turn);
  }
}
