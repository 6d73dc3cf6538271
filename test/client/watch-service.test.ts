import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient, type Watch, type WatchEvent } from "../../client/src/index.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { revokeKey } from "../../src/domain/keys/lifecycle.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { highestId, StockedService } from "../support/client/stocked-service.ts";
import { take } from "../support/client/watching.ts";

let stocked: StockedService;
beforeAll(async () => {
  stocked = await StockedService.start();
});
afterAll(() => stocked[Symbol.asyncDispose]());

/** A client that finds the service again after a restart, which changes its port. */
async function openClient() {
  const { service } = stocked;
  const { baseUrl } = service;
  const { id: keyId, text: apiKey } = await service.issueKey();
  const client = new PetstoreClient({
    baseUrl,
    apiKey,
    backoffBaseMs: 1,
    fetch: (url, init) => fetch(url.replace(baseUrl, service.baseUrl), init),
  });
  return { client, keyId };
}

const nextEvent = async (watch: Watch) => (await take(watch, 1))[0] as WatchEvent;

describe("a watch of the service", () => {
  test("returns every change once and in order through restarts, also with a filter", async () => {
    const { client, keyId } = await openClient();
    const head = await client.ledgerHead();
    const watches = [client.watch(), client.watch({ key: keyId }), client.watch({ after: 0 })];
    const [now, own, all] = watches as [Watch, Watch, Watch];
    const starts = await Promise.all(watches.map(nextEvent));
    expect(starts).toMatchObject([
      { type: "start", seq: head.seq },
      { type: "start", seq: head.seq },
      { type: "start", seq: 0 },
    ]);
    const rounds = 2;
    const writes = (async () => {
      for (let round = 1; round <= rounds; round++) {
        await client.updateInventory(highestId, { quantity: round });
        await stocked.service.addPets({ petId: BigInt(100 + round) });
        await stocked.service.restart();
        await client.applyChanges([1n, 2n].map((petId) => ({ petId, delta: 1 })));
      }
    })();
    const last = head.seq + 4 * rounds;
    const seqsUntil = async (watch: Watch, end: number) => {
      const seqs: number[] = [];
      for (;;) {
        const event = await nextEvent(watch);
        if (event.type !== "change") throw new Error(`unexpected ${event.type}`);
        expect(watch.cursor).toBe(event.cursor);
        seqs.push(event.change.seq);
        if (event.change.seq === end) return seqs;
      }
    };
    const [seqs, ownSeqs, allSeqs] = await Promise.all([
      seqsUntil(now, last),
      seqsUntil(own, last),
      seqsUntil(all, last),
      writes,
    ]);
    expect(allSeqs).toEqual(Array.from({ length: last }, (_, at) => at + 1));
    expect(seqs).toEqual(allSeqs.slice(head.seq));
    // The second row of each round was imported, without a key.
    expect(ownSeqs).toEqual(seqs.filter((_, at) => at % 4 !== 1));
    expect((await nextRow(client, last - 1)).cursor).toBe(now.cursor ?? "none");
    await Promise.all(watches.map((watch) => watch.return()));
  });

  async function nextRow(client: PetstoreClient, after: number) {
    const watch = client.watch({ after });
    const start = await nextEvent(watch);
    const row = await nextEvent(watch);
    await watch.return();
    expect(start).toMatchObject({ type: "start", seq: after });
    return row;
  }

  test("starts with a reset if its cursor belongs to another history", async () => {
    const { client } = await openClient();
    const { seq } = await client.ledgerHead();
    const watch = client.watch({ after: "another-history-1" });
    const reset = await nextEvent(watch);
    expect(reset).toMatchObject({ type: "reset", seq });
    await client.updateInventory(1n, { quantity: 40 });
    expect(await nextEvent(watch)).toMatchObject({
      change: { seq: seq + 1, after: { quantity: 40 } },
    });
    await watch.return();
    const continued = client.watch({ after: reset.cursor });
    expect(await nextEvent(continued)).toMatchObject({ type: "start", seq });
    await continued.return();
  });

  test("rejects when its key is revoked, and at once if the cursor is malformed", async () => {
    const { client, keyId } = await openClient();
    const watch = client.watch();
    await nextEvent(watch);
    const malformed = await rejectionOf(client.watch({ after: "?" }).next());
    expect(isApiError(malformed) && malformed.code).toBe("invalid_request");
    const { store, clock } = stocked.service;
    await revokeKey(store, keyId, byCommand(clock.now()));
    const error = await rejectionOf(watch.next());
    expect(isApiError(error) && error.code).toBe("unauthorized");
  });
});
