import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";

interface Undone {
  readonly asOf: string;
  readonly rows: number;
  readonly undone: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly pets: readonly object[];
}

describe.each(engines)("an undo of several changes on %s", (engine) => {
  let service: TestService;
  let operator: string;
  let till: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine);
    operator = (await issueOperator(service, "Ada")).text;
    till = await service.issueKey({ name: "Till" });
    await service.addPets({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 20 });
  });
  afterAll(() => service.stop());

  const undo = (body: object) =>
    service.call("POST", "~/admin/changes/undo", { key: operator, body: JSON.stringify(body) });
  const undone = async (body: object) => (await undo(body)).json as unknown as Undone;
  const quantities = async () =>
    (
      (await service.call("GET", "/inventory", { key: till.text })).json as { quantity: number }[]
    ).map(({ quantity }) => quantity);
  /** Makes changes as one request, and returns its id. */
  async function change(...changes: readonly object[]): Promise<string> {
    const body = JSON.stringify({ changes });
    const response = await service.call("POST", "/changes", { key: till.text, body });
    expect(response.status).toBe(200);
    return response.headers.get("X-Request-Id")!;
  }

  test("is shown first, and refused once if a pet changes before it is applied", async () => {
    const requestId = await change(
      { petId: 1, delta: 5 },
      { petId: 2, delta: 5 },
      { petId: 1, delta: 1 },
    );
    const preview = await undone({ requestId, dryRun: true });
    expect(preview).toMatchObject({ isDryRun: true, rows: 3, undone: 2, counts: { unchanged: 2 } });
    await change({ petId: 2, delta: -3 });
    expectError(await undo({ requestId, asOf: preview.asOf }), "version_conflict");
    expect(await quantities()).toEqual([16, 22]);
    const again = await undone({ requestId, dryRun: true });
    expect(again.pets).toEqual([
      expect.objectContaining({
        petId: 2,
        mark: "changed",
        to: { quantity: 17, status: "available" },
      }),
      expect.objectContaining({
        petId: 1,
        mark: "unchanged",
        to: { quantity: 10, status: "available" },
      }),
    ]);
    const body = { requestId, asOf: again.asOf, include: "all" };
    expect(await undone(body)).toMatchObject({ isDryRun: false, undone: 2 });
    expect(await quantities()).toEqual([10, 17]);
    // The same request again, as after a lost response.
    expectError(await undo(body), "version_conflict");
    expect(await undone({ requestId, include: "all" })).toMatchObject({ undone: 0 });
    expect(await quantities()).toEqual([10, 17]);
  });

  test("takes the changes of one key between two times", async () => {
    service.clock.advance(60_000);
    const from = new Date(service.clock.now()).toISOString();
    await change({ petId: 1, quantity: 0 });
    service.clock.advance(60_000);
    await change({ petId: 1, quantity: 99 }, { petId: 2, quantity: 98 });
    service.clock.advance(60_000);
    const to = new Date(service.clock.now()).toISOString();
    await change({ petId: 2, delta: 1 });
    const period = { keyId: till.id, from, to };
    expect(await undone({ ...period, dryRun: true })).toMatchObject({ rows: 3, undone: 1 });
    expect(await undone({ ...period, include: "all", reason: "broken" })).toMatchObject({
      undone: 2,
    });
    expect(await quantities()).toEqual([10, 18]);
  });

  test("leaves out what cannot be taken back", async () => {
    const requestId = await change({ petId: 1, delta: 5 }, { petId: 2, quantity: 18 });
    await change({ petId: 1, quantity: 2 });
    const { counts } = await undone({ requestId, include: "all" });
    expect(counts).toMatchObject({ negative: 1, same: 1 });
    expect(await quantities()).toEqual([2, 18]);
  });
});
