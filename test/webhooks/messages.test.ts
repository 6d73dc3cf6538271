import { expect, test } from "bun:test";
import type { NamedRow } from "../../src/domain/ledger/ledger.ts";
import { scanLedger } from "../../src/domain/webhooks/message.ts";
import { webhookNamed } from "../support/webhooks.ts";

const rows = [1, 2, 3].map(
  (seq) =>
    ({
      ...{ seq, petId: BigInt(seq), before: null, after: null, cause: "api", keyId: null },
      ...{ keyName: null, requestId: null, reason: null, at: seq, previous: null },
    }) satisfies NamedRow,
);

/** The id of a message with these rows of the three. */
async function idOf(becomesLow: boolean, ...seqs: readonly number[]): Promise<string> {
  const webhook = webhookNamed("wh_1");
  const parts = {
    tail: {
      rowsAfter: (seq: number) => Promise.resolve(rows.slice(seq)),
      positionAt: (seq: number) => ({ epoch: "first", seq }),
    },
    pacer: { turn: () => Promise.resolve(), spend: () => false },
    monotonicMs: () => 0,
    signal: new AbortController().signal,
  };
  const filtered = { ...webhook, filter: { ...webhook.filter, becomesLow } };
  const { message } = await scanLedger(
    parts,
    filtered,
    () => (row) => seqs.includes(Number(row.petId)),
    0,
  );
  return message!.id;
}

test("an attempt with other changes has another id, because the threshold of a pet was changed", async () => {
  expect(await idOf(true, 1, 2, 3)).toBe(await idOf(true, 1, 2, 3));
  expect(await idOf(true, 1, 3)).not.toBe(await idOf(true, 1, 2, 3));
});

test("the ids of other webhooks stay as they were in earlier releases", async () => {
  expect(await idOf(false, 1, 2, 3)).toBe("msg_54f76be4fa3ad672369064787c231293");
});
