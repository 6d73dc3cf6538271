import { afterAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { checkoutOf } from "../../scripts/release-checkout.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { type Engine, engines } from "../support/service.ts";

/** Makes a store of more than a million ledger rows with 0.15.0, and restores its backup with this version. */

const petCount = 600_000;
const updateCount = 500;
const hours = 3_600_000;

const place = openWorkspace();
afterAll(() => place.leave());

const sources: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path("source.db")}`,
  postgres: async () => (await sharedPostgres()).freshDatabase(),
};
const targets: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path(`${randomUUID()}.db`)}`,
  postgres: () => createdDatabase(),
};

async function writePets(file: string, quantityOf: (petId: number) => number, every: number) {
  const writer = Bun.file(file).writer();
  for (let petId = 1; petId <= petCount; petId += every) {
    writer.write(`{"petId":${petId},"name":"Pet ${petId}","quantity":${quantityOf(petId)}}\n`);
    if (petId % 10_001 === 0) await writer.flush();
  }
  await writer.end();
}

/** Sets the quantity of one pet, and expects that the response is that of the first request. */
async function update(baseUrl: string, key: string, petId: number, isReplayed: boolean) {
  const response = await fetch(`${baseUrl}/inventory/${petId}`, {
    method: "PATCH",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      "Idempotency-Key": `update-${petId}`,
    },
    body: JSON.stringify({ quantity: petId + 7 }),
  });
  expect({
    status: response.status,
    replayed: response.headers.get("Idempotent-Replayed"),
    entry: await response.json(),
  }).toEqual({
    status: 200,
    replayed: isReplayed ? "true" : null,
    entry: { petId, quantity: petId + 7, status: "available" },
  });
}

for (const from of engines) {
  test(
    `a backup of 0.15.0 on ${from} with more than a million rows keeps all of them`,
    async () => {
      const petstore = join(await checkoutOf("0.15.0"), "bin/petstore");
      const source = ["--database", await sources[from]()];
      const release = async (...words: string[]) => {
        const ran = await place.run([...words, ...source], { command: [petstore] });
        expect(ran).toMatchObject({ code: 0 });
        return ran.out;
      };
      await writePets(place.path("all.ndjson"), (petId) => petId % 50, 1);
      await release("pets", "import", "all.ndjson");
      await writePets(place.path("again.ndjson"), (petId) => (petId % 50) + 1, 1);
      await release("pets", "import", "again.ndjson");
      const limits = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "1000000"];
      const made = await release("keys", "create", "--name", "till", ...limits, "--json");
      const { key } = JSON.parse(made) as { key: string };
      const before = await place.serve(["serve", ...source], { command: [petstore] });
      for (let petId = 1; petId <= updateCount; petId++)
        await update(before.baseUrl, key, petId, false);
      before.kill("SIGTERM");
      await before.exited;
      const head = JSON.parse(await release("verify", "--json")) as { seq: number; hash: string };
      expect(head.seq).toBe(2 * petCount + updateCount);
      const file = place.path(`${from}.petstore`);
      await release("backup", file);

      for (const to of engines) {
        const target = ["--database", await targets[to]()];
        const startedMs = performance.now();
        const restored = await place.run(["restore", file, ...target]);
        expect(restored).toMatchObject({ code: 0 });
        const seconds = (performance.now() - startedMs) / 1_000;
        console.log(`${from} to ${to}: ${head.seq} rows restored in ${seconds.toFixed(1)} s`);
        const kept = await place.run(["verify", "--expect", `${head.seq}:${head.hash}`, ...target]);
        expect(kept).toMatchObject({ code: 0 });
        const after = await place.serve(["serve", ...target]);
        for (let petId = 1; petId <= updateCount; petId++)
          await update(after.baseUrl, key, petId, true);
        await update(after.baseUrl, key, petCount, false);
        after.kill("SIGTERM");
        await after.exited;
        const verified = await place.run(["verify", "--json", ...target]);
        expect(JSON.parse(verified.out)).toMatchObject({ seq: head.seq + 1, faults: [] });
      }
    },
    1 * hours,
  );
}
