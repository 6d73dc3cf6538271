import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { InvalidField, ServiceError } from "../../src/domain/running/errors.ts";
import type { Store } from "../../src/domain/store.ts";
import {
  createWebhook,
  defaultOverlapMs,
  deleteWebhook,
  getWebhookStatus,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateSecret,
  webhooksMax,
} from "../../src/domain/webhooks/lifecycle.ts";
import type { WebhookTerms } from "../../src/domain/webhooks/terms.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { createWebhookSender } from "../../src/webhooks/sender.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock } from "../support/clock.ts";
import { petRow } from "../support/pets.ts";
import { setUnit } from "../support/units.ts";
import { range } from "../support/webhooks/service.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-webhooks-"));
const clock = createTestClock();
const url = "https://receiver.invalid/hooks";
const sender = createWebhookSender({ webhooksAllowInsecure: false, webhooksAllowedNetworks: [] });
let store: Store;
beforeAll(async () => {
  const database = `sqlite:${join(folder, "webhooks.db")}`;
  store = await openOrCreateStore(readConfig({ database }, {}), clock);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const create = (terms: Partial<WebhookTerms> = {}) =>
  createWebhook(store, sender, { url, ...terms }, byCommand(clock.now()));

test("a webhook in a store without changes starts with the first one", async () => {
  const { webhook } = await create();
  expect(webhook.cursor.seq).toBe(0);
  expect(webhook.cursor.epoch).not.toBe("");
  await store.catalogue.importPets(
    (async function* () {
      yield [petRow({ petId: 1n, quantity: 5 })];
    })(),
    commandImport("test"),
  );
  for (const quantity of [4, 3]) await store.inventory.commit([setUnit(1n, quantity)]);
  expect((await listWebhooks(store)).map(({ behind }) => behind)).toEqual([3]);
});

describe("a new webhook", () => {
  test("is stored with its terms, and starts with the next change", async () => {
    const { webhook, secret, isResolved } = await create({
      name: " shop ",
      pets: ["9223372036854775807", "1", "1"],
      statuses: ["sold", "available"],
      causes: ["undo", "undo"],
      below: 5,
      becomesLow: true,
    });
    const head = await store.inventory.readHead();
    expect(isResolved).toBe(false);
    expect(webhook.id).toMatch(/^wh_[0-9A-Za-z]{13}$/);
    expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
    expect(webhook).toEqual({
      id: webhook.id,
      name: "shop",
      url,
      filter: {
        pets: [9223372036854775807n, 1n],
        statuses: ["available", "sold"],
        causes: ["undo"],
        below: 5,
        becomesLow: true,
      },
      secrets: { current: secret, previous: null, previousExpiresAt: null },
      createdAt: clock.now(),
      state: "active",
      stateReason: null,
      version: 1,
      replays: 0,
      cursor: { epoch: head.epoch, seq: 3 },
      failures: 0,
      failingSince: null,
      nextAttemptAt: 0,
    });
    const status = await getWebhookStatus(store, webhook.id);
    expect(status).toEqual({ webhook, behind: 0, attempts: [] });
  });

  test("has the host as its name and starts with an earlier change, if the operator wants it", async () => {
    const { webhook } = await create({ from: 2 });
    expect(webhook).toMatchObject({ name: "receiver.invalid", cursor: { seq: 1 } });
    expect((await create({ from: 4 })).webhook.cursor.seq).toBe(3);
  });

  const broken: [terms: Partial<WebhookTerms>, field: string][] = [
    [{ url: "http://receiver.invalid/" }, "url"],
    [{ url: "https://127.0.0.1/" }, "url"],
    [{ url: "receiver" }, "url"],
    [{ name: " " }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ pets: [] }, "pets"],
    [{ pets: ["1", ""] }, "pets"],
    [{ pets: ["9223372036854775808"] }, "pets"],
    [{ statuses: [] }, "statuses"],
    [{ statuses: ["sold", "gone"] }, "statuses"],
    [{ causes: ["toString"] }, "causes"],
    [{ below: 0 }, "below"],
    [{ below: 1.5 }, "below"],
    [{ below: Number.NaN }, "below"],
    [{ from: 0 }, "from"],
    [{ from: 5 }, "from"],
    [{ from: Number.NaN }, "from"],
  ];
  test.each(broken)("is rejected with the name of the field: %j", async (terms, field) => {
    const before = await store.webhooks.listWebhooks();
    const error = await create(terms).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidField);
    expect(error).toMatchObject({ code: "invalid_request", field });
    expect(await store.webhooks.listWebhooks()).toEqual(before);
  });
});

test("a webhook cannot name more than 1,000 pets", async () => {
  const pets = range(1, 1_001).map(String);
  expect(create({ pets })).rejects.toMatchObject({ field: "pets" });
  expect((await create({ pets: pets.slice(1) })).webhook.filter.pets).toHaveLength(1_000);
});

test("a rotated webhook has two secrets for the overlap, or one without it", async () => {
  const { webhook, secret } = await create();
  const second = await rotateSecret(store, webhook.id, byCommand(clock.now()));
  const stored = async () => (await store.webhooks.findWebhook(webhook.id))!.secrets;
  expect(await stored()).toEqual({
    current: second.secret,
    previous: secret,
    previousExpiresAt: clock.now() + defaultOverlapMs,
  });
  const third = await rotateSecret(store, webhook.id, byCommand(clock.now()), 0);
  expect(await stored()).toEqual({
    current: third.secret,
    previous: null,
    previousExpiresAt: null,
  });
  const negative = rotateSecret(store, webhook.id, byCommand(clock.now()), -1);
  await expect(negative).rejects.toMatchObject({ field: "overlap" });
});

test("a paused webhook keeps its reason, a resumed one is not failing, and a replay moves the cursor", async () => {
  const { id } = (await create()).webhook;
  await store.webhooks.changeWebhook(
    id,
    1,
    {
      state: "disabled",
      stateReason: "the receiver returned 410",
      failures: 3,
      failingSince: 5,
      nextAttemptAt: 9,
    },
    anEntry,
  );
  expect(await pauseWebhook(store, id, byCommand(Date.now()))).toMatchObject({
    state: "disabled",
    version: 2,
  });
  const resumed = await resumeWebhook(store, id, byCommand(Date.now()));
  const active = { state: "active", stateReason: null, failures: 0, failingSince: null };
  expect(resumed).toMatchObject({ ...active, nextAttemptAt: 0, version: 3 });
  expect(await store.webhooks.findWebhook(id)).toEqual(resumed);
  expect(await pauseWebhook(store, id, byCommand(Date.now()))).toMatchObject({ state: "paused" });
  const replayed = await replayWebhook(store, id, 2, byCommand(Date.now()));
  expect(replayed).toMatchObject({ state: "paused", replays: 1, cursor: { seq: 1 } });
  expect(await store.webhooks.findWebhook(id)).toEqual(replayed);
  expect(replayWebhook(store, id, 5, byCommand(Date.now()))).rejects.toMatchObject({
    field: "from",
  });
  expect((await deleteWebhook(store, id, byCommand(Date.now()))).id).toBe(id);
  expect(await store.webhooks.findWebhook(id)).toBeUndefined();
});

test("a change that another operator overtakes is made on top of it", async () => {
  const { id } = (await create()).webhook;
  let raced = false;
  const racing = {
    ...store.webhooks,
    async findWebhook(wanted: string) {
      const found = await store.webhooks.findWebhook(wanted);
      if (!raced) await rotateSecret(store, id, byCommand(clock.now()), 0);
      raced = true;
      return found;
    },
  };
  expect(await pauseWebhook({ webhooks: racing }, id, byCommand(Date.now()))).toMatchObject({
    state: "paused",
    version: 3,
  });
});

test("an unknown id is not found", async () => {
  const results = await Promise.allSettled([
    getWebhookStatus(store, "wh_0"),
    rotateSecret(store, "wh_0", byCommand(clock.now())),
    pauseWebhook(store, "wh_0", byCommand(Date.now())),
    resumeWebhook(store, "wh_0", byCommand(Date.now())),
    replayWebhook(store, "wh_0", 1, byCommand(Date.now())),
    deleteWebhook(store, "wh_0", byCommand(Date.now())),
  ]);
  for (const result of results) {
    const { reason } = result as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(ServiceError);
    expect(reason).toMatchObject({ code: "not_found", message: "There is no webhook wh_0." });
  }
});

test("a store has a limited number of webhooks", async () => {
  const { length } = await listWebhooks(store);
  // An address needs no name server.
  const literal = { url: "https://8.8.8.8/" };
  for (let count = length; count < webhooksMax; count++) await create(literal);
  const refused = await create(literal).then(
    () => undefined,
    (error) => error,
  );
  expect(refused).toEqual(new ServiceError("invalid_request", "A store has at most 100 webhooks."));
  expect(await listWebhooks(store)).toHaveLength(webhooksMax);
});
