import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { verify } from "../../src/domain/verification/verify.ts";
import { onEveryEngine } from "../support/conformance.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

interface Row {
  readonly seq: number;
  readonly petId: number;
  readonly before: { readonly quantity: number; readonly status: string } | null;
  readonly after: { readonly quantity: number; readonly status: string } | null;
  readonly cause: string;
  readonly keyId: string | null;
  readonly requestId: string | null;
  readonly reason: string | null;
  readonly at: string;
}

/** The text of docs/proof.md, written again from the response alone. */
function textOf({ before, after, ...row }: Row): string {
  return JSON.stringify([
    row.seq,
    row.petId,
    before?.quantity ?? null,
    before?.status ?? null,
    after?.quantity ?? null,
    after?.status ?? null,
    row.cause,
    row.keyId,
    row.requestId,
    row.reason,
    Date.parse(row.at),
  ]);
}

onEveryEngine("proof", (service) => {
  const fill = async () => {
    const { text: key } = await service().issueKey({ name: "till" });
    await service().addPets({ petId: 1n, quantity: 3 }, { petId: -7n, status: "sold" });
    const headers = { "X-Change-Reason": "Gr%C3%BC%C3%9Fe%20%22%F0%9F%90%A2%22" };
    await service().call("PATCH", "/inventory/1", { key, headers, body: '{"quantity":8}' });
    const changes = '{"changes":[{"petId":1,"delta":-2,"reason":"sale"},{"petId":-7,"delta":1}]}';
    await service().call("POST", "/changes", { key, body: changes });
    return key;
  };
  const readHead = async (key: string) =>
    (await service().call("GET", "/changes/head", { key })).json as { seq: number; hash: string };

  test("[proof.chain] a client can recompute the hash of the head from the rows of GET /changes", async () => {
    const key = await fill();
    const rows = (await service().call("GET", "/changes?limit=1000", { key })).json as Row[];
    const hash = rows.reduce((previous, row) => sha256(previous + textOf(row)), sha256(""));
    expect(await readHead(key)).toMatchObject({ seq: rows.length, hash });
  });

  test("[proof.kept] verify confirms a hash that was kept, whatever was stored since, and reports any other", async () => {
    const kept = await readHead(await fill());
    await fill();
    const check = (one: typeof kept) =>
      service().store.transfer.snapshot(async (snapshot) => (await verify(snapshot, one)).faults);
    expect(await check(kept)).toEqual([]);
    const changed = kept.hash.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    const [fault] = await check({ ...kept, hash: changed });
    expect(fault).toContain(`ledger row ${kept.seq}`);
    expect(await check({ seq: 10_000, hash: kept.hash })).toHaveLength(1);
  });
});
