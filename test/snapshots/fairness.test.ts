import { describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { engines, startTestService } from "../support/service.ts";

describe.each(engines)("while one key requests 60 diffs at a time on %s", (engine) => {
  test("snapshots of another key and exports of an operator all succeed", async () => {
    const service = await startTestService(engine);
    await using stack = new AsyncDisposableStack();
    stack.defer(() => service.stop());
    const entries = 5_000;
    await service.addPets(...Array.from({ length: entries }, (_, at) => ({ petId: BigInt(at) })));
    const limits = { perMinute: 100_000, perDay: 100_000 };
    const flooding = await service.issueKey({ plan: "free", limits });
    const other = await service.issueKey({ limits });
    const operator = await issueOperator(service);

    let isOver = false;
    const diff = `${service.baseUrl}/snapshots/0/diff?to=${entries}`;
    const headers = { Authorization: `Bearer ${flooding.text}` };
    const flood = Array.from({ length: 60 }, async () => {
      while (!isOver) {
        const response = await fetch(diff, { headers });
        await response.arrayBuffer();
        expect([200, 503]).toContain(response.status);
      }
    });
    const statuses: number[] = [];
    for (let round = 0; round < 5; round++) {
      const snapshot = await service.call("GET", `/snapshots/${entries}`, { key: other.text });
      const file = await service.call("GET", "~/admin/pets/export?format=csv", {
        key: operator.text,
      });
      statuses.push(snapshot.status, file.status);
    }
    isOver = true;
    await Promise.all(flood);
    expect(new Set(statuses)).toEqual(new Set([200]));
  }, 60_000);
});
