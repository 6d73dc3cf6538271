import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile } from "../../bench/compile.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { issueOperatorKey } from "../../src/domain/keys/lifecycle.ts";
import { verify } from "../../src/domain/verification/verify.ts";
import { systemClock } from "../../src/engines.ts";
import { createKey, importPets, unlimited, withStoreAt } from "../../test/support/stocking.ts";
import type { Part, Round } from "../part.ts";
import { createDisk, rests, writeImage } from "./disk.ts";
import { batchPets, type Found, findFaults, type Load, sendLoad, setPets } from "./load.ts";
import { type Operation, readLog } from "./log.ts";

const petstore = resolve(import.meta.dir, "../../bin/petstore");
const imagesPerRound = 250;

export const power: Part = {
  name: "power",
  share: 15,
  async round(round) {
    const { folder, random, isShort } = round;
    const data = join(folder, "data");
    const log = join(folder, "log");
    mkdirSync(data);
    const tracer = join(folder, "tracer");
    const problem = await compile("../survive/power/tracer.c", tracer, []);
    if (problem !== undefined) throw new Error(problem);
    const database = `sqlite:${join(data, "production.db")}`;
    const rows = [...setPets, ...batchPets].map((petId) => `{"petId":${petId},"name":"Pet"}`);
    await importPets(database, ...rows);
    const { key } = await createKey(database, { name: "load", ...unlimited });
    const operatorKey = await withStoreAt(database, async (store) => {
      const entry = byCommand(systemClock.now());
      return (await issueOperatorKey(store, "production", { name: "Ada" }, entry)).text;
    });
    const disk = createDisk(data);
    const control = createDisk(data, true);
    const words = [
      "serve",
      "--port",
      "0",
      "--database",
      database,
      "--webhooks-allow-insecure",
      "--webhooks-allowed-networks",
      "127.0.0.0/8",
    ];
    const service = Bun.spawn([tracer, data, log, "-", petstore, ...words], {
      stdout: "pipe",
      stderr: Bun.file(join(folder, "stderr")),
    });
    let load: Load;
    try {
      const baseUrl = await addressIn(service.stdout);
      const target = { baseUrl, key, operatorKey, log };
      load = await sendLoad(target, random, isShort ? 1_000 : 4_000);
    } finally {
      service.kill("SIGKILL");
      await service.exited;
    }
    round.acknowledged(load.told.length);
    await checkImages(round, data, readLog(log), load, disk, control);
  },
};

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const bytes of output) {
    text += Buffer.from(bytes).toString();
    const found = /is serving at (\S+)/.exec(text);
    if (found) return found[1]!;
  }
  throw new Error(`the service did not start: ${text}`);
}

async function checkImages(
  round: Round,
  data: string,
  operations: readonly Operation[],
  load: Load,
  disk: ReturnType<typeof createDisk>,
  control: ReturnType<typeof createDisk>,
): Promise<void> {
  const { random } = round;
  const count = round.isShort ? 30 : imagesPerRound;
  const points = new Map<number, number>();
  for (let n = 0; n < count; n++) {
    const at = random.below(operations.length);
    points.set(at, (points.get(at) ?? 0) + 1);
  }
  for (const [at, operation] of operations.entries()) {
    disk.apply(operation);
    control.apply(operation);
    for (let n = points.get(at) ?? 0; n > 0; n--) {
      const rest = random.pick(rests);
      await check(round, data, disk.image(rest, random), load, operation.position, rest);
    }
  }
  const last = operations.at(-1)!.position;
  const faults = await faultsIn(round, data, control.image("none", random), load, last);
  if (faults.length === 0)
    round.fail("wrong", "the control, a disk that ignores flushes, lost nothing");
}

async function check(
  round: Round,
  data: string,
  image: ReadonlyMap<string, Buffer>,
  load: Load,
  position: number,
  rest: string,
): Promise<void> {
  round.faults(1);
  for (const { wrong, what } of await faultsIn(round, data, image, load, position)) {
    round.fail(wrong, `${what} (power lost at ${position}, ${rest} of the rest)`);
  }
}

async function faultsIn(
  round: Round,
  data: string,
  image: ReadonlyMap<string, Buffer>,
  load: Load,
  position: number,
) {
  const copy = join(round.folder, "image");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  // The index of the log is in memory that no flush reaches. SQLite makes it again.
  const files = new Map([...image].filter(([path]) => !path.endsWith("-shm")));
  writeImage(files, data, copy);
  const database = `sqlite:${join(copy, "production.db")}`;
  try {
    return await withStoreAt(database, async ({ inventory, keys, webhooks, transfer }) => {
      const { faults } = await transfer.snapshot((snapshot) => verify(snapshot));
      const entries = await inventory.entriesAfter(null, 1_000_000);
      const found: Found = {
        quantities: new Map(entries.map((one) => [Number(one.petId), one.quantity])),
        keys: new Map((await keys.listKeys()).map((one) => [one.id, one.revokedAt !== null])),
        webhooks: new Set((await webhooks.listWebhooks()).map(({ id }) => id)),
      };
      return [
        ...faults.map((what) => ({ wrong: "wrong", what: JSON.stringify(what) }) as const),
        ...findFaults(load, found, position),
      ];
    });
  } catch (error) {
    return [{ wrong: "wrong", what: `the image cannot be opened: ${error}` } as const];
  }
}
