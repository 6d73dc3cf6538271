import type { TestService } from "../service.ts";
import type { AdminExamples } from "./operation-examples.ts";

const wrongType = {
  headers: { "Content-Type": "text/plain" },
  code: "unsupported_media_type",
} as const;
const tooLong = { body: " ".repeat(65_537), code: "payload_too_large" } as const;

/** Examples of the stock, its ledger, pets and usage. */
export const stockExamples = {
  listStock: { good: { path: "/stock" }, bad: [] },
  listSales: { good: { path: "/sales" }, bad: [] },
  updateStock: {
    good: { path: "/stock/1", body: '{"quantity":5,"status":"pending","reason":"count"}' },
    bad: [
      { path: "/stock/1", code: "invalid_request" },
      { path: "/stock/1", body: "{}", code: "invalid_request" },
      { path: "/stock/1", body: '{"quantity":5,"delta":1}', code: "invalid_request" },
      { path: "/stock/1", body: '{"quantity":-1}', code: "invalid_request" },
      { path: "/stock/1", body: '{"quantity":null}', code: "invalid_request" },
      { path: "/stock/1", body: '{"status":"lost"}', code: "invalid_request" },
      { path: "/stock/1", body: '{"quantity":1,"reason":"a\\nb"}', code: "invalid_request" },
      { path: "/stock/1", body: '{"quantity":1,"expectedVersion":0}', code: "invalid_request" },
      { path: "/stock/01", body: '{"quantity":1}', code: "invalid_request" },
      { path: "/stock/999", body: '{"quantity":1}', code: "not_found" },
      { path: "/stock/1", body: '{"delta":-9007199254740991}', code: "insufficient_stock" },
      {
        path: "/stock/1",
        body: '{"quantity":1,"expectedVersion":9007199254740991}',
        code: "version_conflict",
      },
      { path: "/stock/1", ...tooLong },
      { path: "/stock/1", body: '{"quantity":1}', ...wrongType },
    ],
  },
  shareStocktake: {
    good: { path: "/stocktakes", body: '{"pets":[1,9223372036854775807]}' },
    bad: [
      { path: "/stocktakes", body: '{"pets":["1"]}', code: "invalid_request" },
      { path: "/stocktakes", body: '{"pets":[9223372036854775808]}', code: "invalid_request" },
      { path: "/stocktakes", body: " ".repeat(262_145), code: "payload_too_large" },
      { path: "/stocktakes", body: '{"pets":[]}', ...wrongType },
    ],
  },
  listStockHistory: {
    good: { path: "/stock/1/history" },
    bad: [
      { path: "/stock/999/history", code: "not_found" },
      { path: "/stock/1/history?limit=0", code: "invalid_request" },
    ],
  },
  listChanges: {
    good: { path: "/changes?limit=1" },
    bad: [{ path: "/changes?cause=chance", code: "invalid_request" }],
  },
  applyChanges: {
    good: { path: "/changes", body: '{"changes":[{"petId":1,"status":"sold"}]}' },
    bad: [
      { path: "/changes", body: '{"changes":[{"petId":1}]}', code: "invalid_request" },
      {
        path: "/changes",
        body: '{"changes":[{"petId":1,"status":"lost"}]}',
        code: "invalid_request",
      },
      { path: "/changes", body: '{"changes":[{"petId":999,"delta":1}]}', code: "not_found" },
      { path: "/changes", body: '{"changes":[{"petId":1}]}', ...wrongType },
    ],
  },
  getLedgerHead: { good: { path: "/changes/head" }, bad: [] },
  undoChange: {
    good: { path: "/changes/{seq}/undo", body: '{"reason":"wrong shelf"}' },
    bad: [
      { path: "/changes/1/undo", code: "invalid_request" },
      { path: "/changes/0/undo", code: "invalid_request" },
      { path: "/changes/9007199254740992/undo", code: "invalid_request" },
      { path: "/changes/9007199254740991/undo", code: "not_found" },
      { path: "/changes/{seq}/undo", body: '{"force":1}', code: "invalid_request" },
      { path: "/changes/{seq}/undo", body: '{"reason":"a\\nb"}', code: "invalid_request" },
      { path: "/changes/{seq}/undo", ...tooLong },
    ],
    prepare: aChange,
  },
  undoChanges: {
    good: { path: "/changes/undo?request={requestId}&dryRun=true" },
    bad: [
      { path: "/changes/undo", code: "invalid_request" },
      { path: "/changes/undo?request={requestId}&asOf=last", code: "invalid_request" },
      { path: "/changes/undo?pet=1.5", code: "invalid_request" },
      { path: "/changes/undo?request=req_none", code: "not_found" },
      { path: "/changes/undo?request={requestId}", ...tooLong },
    ],
    prepare: aChange,
  },
  getSnapshot: {
    good: { path: "/snapshots/1" },
    bad: [
      { path: "/snapshots/yesterday", code: "invalid_request" },
      { path: "/snapshots/9007199254740991", code: "not_found" },
    ],
  },
  getDiff: {
    good: { path: "/snapshots/0/diff?to=1" },
    bad: [{ path: "/snapshots/0/diff", code: "invalid_request" }],
  },
  listPetNames: {
    good: { path: "/pets?ids=1,2,1,999" },
    bad: [
      { path: "/pets", code: "invalid_request" },
      { path: "/pets?ids=", code: "invalid_request" },
      { path: "/pets?ids=1,x", code: "invalid_request" },
      { path: "/pets?ids=9223372036854775808", code: "invalid_request" },
      { path: `/pets?ids=${"1,".repeat(200)}1`, code: "invalid_request" },
    ],
  },
  createPet: {
    good: { path: "/pets", body: '{"petId":{petId},"name":"Rex"}' },
    bad: [
      { path: "/pets", code: "invalid_request" },
      { path: "/pets", body: '{"name":"Rex"}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":"5","name":"Rex"}', code: "invalid_request" },
      {
        path: "/pets",
        body: '{"petId":9223372036854775808,"name":"Rex"}',
        code: "invalid_request",
      },
      { path: "/pets", body: '{"petId":5}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":5,"name":""}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":5,"name":"a\\u0000b"}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":5,"name":"Rex","tags":"a"}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":5,"name":"Rex","quantity":1.5}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":5,"name":"Rex","status":"lost"}', code: "invalid_request" },
      { path: "/pets", body: '{"petId":1,"name":"Rex"}', code: "already_exists" },
      { path: "/pets", ...tooLong },
      { path: "/pets", body: '{"petId":5,"name":"Rex"}', ...wrongType },
    ],
    prepare: aFreeId,
  },
  getPet: {
    good: { path: "/pets/1" },
    bad: [
      { path: "/pets/999", code: "not_found" },
      { path: "/pets/+1", code: "invalid_request" },
    ],
  },
  changePet: {
    good: { path: "/pets/1", body: '{"name":"Max","category":null,"tags":["a"]}' },
    bad: [
      { path: "/pets/999", body: '{"name":"Max"}', code: "not_found" },
      { path: "/pets/1", body: '{"name":""}', code: "invalid_request" },
      { path: "/pets/1", body: '{"photoUrls":[1]}', code: "invalid_request" },
      { path: "/pets/1", body: "[]", code: "invalid_request" },
      { path: "/pets/1", ...tooLong },
      { path: "/pets/1", body: '{"name":"Max"}', ...wrongType },
    ],
  },
  removePet: {
    good: { path: "/pets/{petId}?reason=gone" },
    bad: [
      { path: "/pets/999", code: "not_found" },
      { path: "/pets/1?expectedVersion=x", code: "invalid_request" },
      { path: "/pets/1?reason=a%0Ab", code: "invalid_request" },
      { path: "/pets/1?expectedVersion=9007199254740991", code: "version_conflict" },
    ],
    prepare: aPet,
  },
  getKeyUsage: {
    good: { path: "/keys/{keyId}/usage" },
    bad: [
      { path: "/keys/key_0/usage", code: "not_found" },
      { path: "/keys/{keyId}/usage?step=year", code: "invalid_request" },
    ],
    prepare: async (service) => ({ keyId: (await service.issueKey()).id }),
  },
  getUsage: {
    good: { path: "/usage?step=day" },
    bad: [{ path: "/usage?step=year", code: "invalid_request" }],
  },
} satisfies Record<string, AdminExamples>;

let lastId = 1_000;

/** A new row that is the last one of its pet, as `{seq}`. */
async function aChange({ store }: TestService) {
  const change = { petId: 2n, kind: "add", amount: 1, reason: null } as const;
  const requestId = `req_example_${++lastId}`;
  const unit = { changes: [change], cause: "undo", keyId: null, requestId } as const;
  const { rows } = await store.inventory.commit([unit]);
  return { seq: String(rows[0]!.seq), requestId };
}

async function aFreeId() {
  lastId += 1;
  return { petId: String(lastId) };
}

async function aPet(service: TestService) {
  const { petId } = await aFreeId();
  await service.addPets({ petId: BigInt(petId) });
  return { petId };
}
