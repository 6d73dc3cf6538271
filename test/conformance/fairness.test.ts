import { beforeAll, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { onEveryEngine } from "../support/conformance.ts";

const ids = Array.from({ length: 1_000 }, (_, at) => at + 1);
const limits = { perMinute: 100_000, perDay: 100_000 };

/** What others get while one key sends as much as it can. */
onEveryEngine("fairness", (service) => {
  let flooding: { text: string };
  let other: { text: string };
  beforeAll(async () => {
    flooding = await service().issueKey({ plan: "free", limits });
    other = await service().issueKey({ limits });
    await service().addPets(...ids.map((petId) => ({ petId: BigInt(petId) })));
  });

  test("[open.fair-updates] updates are stored while another key sends 60 batches at once", async () => {
    // So few that a database on a very busy machine commits a batch in time.
    const changes = ids.slice(0, 300).map((petId) => ({ petId, quantity: 1 }));
    const batch = { key: flooding.text, body: JSON.stringify({ changes }) };
    let isOver = false;
    const flood = Promise.all(
      ids.slice(0, 60).map(async () => {
        const { status } = await service().call("POST", "/changes", batch);
        expect([200, 503]).toContain(status);
      }),
    ).finally(() => {
      isOver = true;
    });
    const statuses: number[] = [];
    const update = async (petId: number) => {
      const options = { key: other.text, body: '{"quantity":2}' };
      statuses.push((await service().call("PATCH", `/inventory/${petId}`, options)).status);
    };
    while (!isOver) await Promise.all(ids.slice(0, 20).map(update));
    await flood;
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test("[open.fair-snapshots] snapshots and exports succeed while another key requests 60 diffs at a time", async () => {
    const operator = await issueOperator(service());
    let isOver = false;
    const diff = `${service().baseUrl}/snapshots/0/diff?to=${ids.length}`;
    const headers = { Authorization: `Bearer ${flooding.text}` };
    const flood = ids.slice(0, 60).map(async () => {
      while (!isOver) {
        const response = await fetch(diff, { headers });
        await response.arrayBuffer();
        expect([200, 503]).toContain(response.status);
      }
    });
    const ask = async (path: string, key: string) =>
      (await service().call("GET", path, { key })).status;
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      statuses.push(await ask(`/snapshots/${ids.length}`, other.text));
      statuses.push(await ask("~/admin/pets/export?format=csv", operator.text));
    }
    isOver = true;
    await Promise.all(flood);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
