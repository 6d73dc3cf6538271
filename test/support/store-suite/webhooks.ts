import { describe, expect, test } from "bun:test";
import type { Store } from "../../../src/domain/store.ts";
import type { Delivered, WebhookChange } from "../../../src/domain/webhooks/store.ts";
import { attemptsKept, type WebhookAttempt } from "../../../src/domain/webhooks/webhook.ts";
import { anEntry } from "../audit.ts";
import { testStart } from "../clock.ts";
import { fullWebhook as full, webhookNamed } from "../webhooks.ts";
import type { StoreSuite } from "./suite.ts";

const leaseMs = 30_000;

function attempt(number: number, given: Partial<WebhookAttempt> = {}): WebhookAttempt {
  return {
    at: testStart + number,
    messageId: `msg_${number}`,
    firstSeq: number,
    lastSeq: number + 1,
    changes: 2,
    durationMs: number,
    status: 200,
    error: null,
    answer: `answer ${number}`,
    ...given,
  };
}

function delivered(id: string, seq: number, given: Partial<Delivered> = {}): Delivered {
  const progress = {
    cursor: { epoch: "second", seq },
    failures: 0,
    failingSince: null,
    nextAttemptAt: 0,
  };
  return { id, replays: 0, progress, attempts: [], ...given };
}

function toolsOf(suite: StoreSuite) {
  const webhooks = () => suite.store.webhooks;
  const get = async (id: string, store: Store = suite.store) =>
    (await store.webhooks.findWebhook(id))!;
  const claimed = async (holder: string, store: Store = suite.store) =>
    (await store.webhooks.claimWebhooks(holder, leaseMs)).map(({ id }) => id);
  const numbersOf = async (id: string) =>
    (await webhooks().listAttempts(id, 1_000)).map(({ at }) => at - testStart);
  return { webhooks, get, claimed, numbersOf };
}

/** Every method that writes. */
export function describeWebhookWrites(suite: StoreSuite): void {
  const { webhooks, get, claimed, numbersOf } = toolsOf(suite);

  describe("webhooks", () => {
    test("are found as they were added, in the order of their creation", async () => {
      const plain = webhookNamed("wh_plain", { createdAt: testStart + 2 });
      await webhooks().addWebhook(plain, anEntry);
      await webhooks().addWebhook(full, anEntry);
      const other = await suite.place.open();
      expect(await other.webhooks.listWebhooks()).toEqual([full, plain]);
      expect(await other.webhooks.findWebhook(full.id)).toEqual(full);
      expect(await other.webhooks.findWebhook("wh_none")).toBeUndefined();
      const adding = webhooks().addWebhook({ ...plain, name: "again" }, anEntry);
      expect(
        await adding.then(
          () => "added",
          () => "rejected",
        ),
      ).toBe("rejected");
      expect(await get(plain.id)).toEqual(plain);
    });

    test("change in the given fields only, and only at the expected version", async () => {
      await webhooks().addWebhook(full, anEntry);
      let expected = full;
      const changes: WebhookChange[] = [
        { state: "active", stateReason: null },
        { secrets: webhookNamed("wh_plain").secrets },
        { replays: 4, cursor: { epoch: "third", seq: 5 } },
        { failures: 0, failingSince: null, nextAttemptAt: 0 },
        {},
      ];
      for (const change of changes) {
        const { version } = expected;
        expect(await webhooks().changeWebhook(full.id, version, change, anEntry)).toBe(true);
        expected = { ...expected, ...change, version: version + 1 };
        expect(await get(full.id)).toEqual(expected);
        expect(
          await webhooks().changeWebhook(full.id, version, { state: "disabled" }, anEntry),
        ).toBe(false);
      }
      expect(await webhooks().changeWebhook("wh_none", 1, { failures: 1 }, anEntry)).toBe(false);
      expect(await get(full.id)).toEqual(expected);
    });

    test("keep progress and attempts of the process that holds them", async () => {
      await webhooks().addWebhook(webhookNamed("wh_a"), anEntry);
      await webhooks().addWebhook(webhookNamed("wh_b", { createdAt: testStart + 1 }), anEntry);
      await claimed("one");
      const progress = {
        cursor: { epoch: "second", seq: 8 },
        failures: 3,
        failingSince: testStart + 4,
        nextAttemptAt: testStart + 9,
      };
      const failed = attempt(1, {
        status: null,
        error: 'refused: "{10.0.0.1}", \\',
        answer: "",
      });
      const strange = attempt(2, { status: 599, answer: '{"NULL",\\,🐢}\n\u0001' });
      const saved = await webhooks().saveDelivered("one", [
        delivered("wh_b", 5),
        { id: "wh_a", replays: 0, progress, attempts: [failed, strange] },
        delivered("wh_none", 1, { attempts: [attempt(3)] }),
      ]);
      expect(saved).toEqual(["wh_b", "wh_a"]);
      const other = await suite.place.open();
      expect(await get("wh_a", other)).toEqual({ ...webhookNamed("wh_a"), ...progress });
      expect((await get("wh_b", other)).cursor).toEqual({ epoch: "second", seq: 5 });
      expect(await other.webhooks.listAttempts("wh_a", 9)).toEqual([strange, failed]);
      expect(await other.webhooks.listAttempts("wh_a", 1)).toEqual([strange]);
      expect(await other.webhooks.listAttempts("wh_b", 9)).toEqual([]);
      expect(await webhooks().saveDelivered("one", [])).toEqual([]);
    });

    test("keep attempts that operators ask for, whichever process holds them", async () => {
      await webhooks().addWebhook(webhookNamed("wh_a"), anEntry);
      await claimed("one");
      const other = await suite.place.open();
      const attempts = Array.from({ length: attemptsKept - 3 }, (_, at) => attempt(at + 1));
      await webhooks().saveDelivered("one", [delivered("wh_a", 5, { attempts })]);
      const before = await get("wh_a");
      for (let at = attemptsKept - 2; at <= attemptsKept + 2; at++) {
        expect(await other.webhooks.addAttempt("wh_a", attempt(at), anEntry)).toBe(true);
      }
      const strange = attempt(99, { status: null, error: "a\0b", answer: "\ud800" });
      await other.webhooks.addAttempt("wh_a", strange, anEntry);
      expect(await get("wh_a")).toEqual(before);
      const log = await webhooks().listAttempts("wh_a", 1_000);
      expect(log[0]).toEqual({ ...strange, error: "a\ufffdb", answer: "\ufffd" });
      expect(log).toHaveLength(attemptsKept);
      expect(await webhooks().addAttempt("wh_none", attempt(1), anEntry)).toBe(false);
    });

    test("are removed with their attempts", async () => {
      for (const id of ["wh_a", "wh_b"]) await webhooks().addWebhook(webhookNamed(id), anEntry);
      await claimed("one");
      const some = ["wh_a", "wh_b"].map((id) => delivered(id, 1, { attempts: [attempt(1)] }));
      await webhooks().saveDelivered("one", some);
      expect(await webhooks().removeWebhook("wh_a", anEntry)).toBe(true);
      expect(await webhooks().removeWebhook("wh_a", anEntry)).toBe(false);
      expect(await numbersOf("wh_a")).toEqual([]);
      expect(await webhooks().saveDelivered("one", some)).toEqual(["wh_b"]);
      // A new webhook with the same id would show attempts that were left behind.
      await webhooks().addWebhook(webhookNamed("wh_a"), anEntry);
      expect(await numbersOf("wh_a")).toEqual([]);
      expect(await numbersOf("wh_b")).toEqual([1, 1]);
    });

    if (!suite.isWhole) return;

    test("that another process has taken over keep nothing of the first", async () => {
      const other = await suite.place.open();
      await webhooks().addWebhook(webhookNamed("wh_a"), anEntry);
      expect(await claimed("one")).toEqual(["wh_a"]);
      suite.clock.advance(leaseMs);
      expect(await claimed("two", other)).toEqual(["wh_a"]);
      const before = await get("wh_a");
      const lost = delivered("wh_a", 5, {
        ended: { state: "disabled", reason: "gone" },
        attempts: [attempt(1)],
      });
      expect(await webhooks().saveDelivered("one", [lost])).toEqual([]);
      await webhooks().releaseWebhooks("one");
      expect(await get("wh_a")).toEqual(before);
      expect(await numbersOf("wh_a")).toEqual([]);
      expect(await other.webhooks.saveDelivered("two", [delivered("wh_a", 6)])).toEqual(["wh_a"]);
      expect((await get("wh_a")).cursor.seq).toBe(6);
    });
  });
}

export function describeWebhooks(suite: StoreSuite): void {
  const { webhooks, get, claimed, numbersOf } = toolsOf(suite);

  describe("webhooks", () => {
    test("that are active are claimed whole, and again by the same process", async () => {
      const active = { ...full, state: "active", stateReason: null } as const;
      await webhooks().addWebhook(active, anEntry);
      await webhooks().addWebhook(webhookNamed("wh_paused", { state: "paused" }), anEntry);
      await webhooks().addWebhook(webhookNamed("wh_disabled", { state: "disabled" }), anEntry);
      for (let at = 0; at < 12; at++) {
        expect(await webhooks().claimWebhooks("one", leaseMs)).toEqual([active]);
        suite.clock.advance(leaseMs / 6);
      }
      await webhooks().addWebhook(webhookNamed("wh_new"), anEntry);
      expect(await claimed("one")).toEqual(["wh_new", full.id]);
      // A claim also reads what operators change.
      await webhooks().changeWebhook(
        "wh_new",
        1,
        { state: "paused", stateReason: "by hand" },
        anEntry,
      );
      expect(await claimed("one")).toEqual([full.id]);
      await webhooks().changeWebhook(
        "wh_new",
        2,
        { state: "active", cursor: full.cursor },
        anEntry,
      );
      expect(await webhooks().claimWebhooks("one", leaseMs)).toMatchObject([
        { id: "wh_new", version: 3, cursor: full.cursor },
        { id: full.id },
      ]);
    });

    test("store NUL in an answer as the replacement character", async () => {
      await webhooks().addWebhook(webhookNamed("wh_a"), anEntry);
      await claimed("one");
      const attempts = [attempt(1, { answer: "a\0b", error: "\0" })];
      await webhooks().saveDelivered("one", [delivered("wh_a", 1, { attempts })]);
      expect(await webhooks().listAttempts("wh_a", 9)).toMatchObject([
        { answer: "a\ufffdb", error: "\ufffd" },
      ]);
    });

    test("that are released keep nothing more of the process, and another claims them at once", async () => {
      const other = await suite.place.open();
      for (const id of ["wh_a", "wh_b"]) await webhooks().addWebhook(webhookNamed(id), anEntry);
      await claimed("one");
      await webhooks().releaseWebhooks("one");
      expect(await webhooks().saveDelivered("one", [delivered("wh_a", 5)])).toEqual([]);
      expect((await get("wh_a")).cursor.seq).toBe(0);
      expect(await claimed("two", other)).toEqual(["wh_a", "wh_b"]);
    });

    test("that are replayed ignore progress from before", async () => {
      for (const id of ["wh_a", "wh_b"]) await webhooks().addWebhook(webhookNamed(id), anEntry);
      await claimed("one");
      await webhooks().saveDelivered("one", [delivered("wh_a", 9), delivered("wh_b", 9)]);
      const cursor = { epoch: "first", seq: 3 };
      await webhooks().changeWebhook("wh_a", 1, { replays: 1, cursor }, anEntry);
      const late = [delivered("wh_a", 10, { attempts: [attempt(1)] }), delivered("wh_b", 10)];
      expect(await webhooks().saveDelivered("one", late)).toEqual(["wh_b"]);
      expect(await get("wh_a")).toMatchObject({ cursor, replays: 1 });
      expect(await numbersOf("wh_a")).toEqual([]);
      const next = [delivered("wh_a", 4, { replays: 1 })];
      expect(await webhooks().saveDelivered("one", next)).toEqual(["wh_a"]);
      expect((await get("wh_a")).cursor.seq).toBe(4);
    });

    test("are ended by their deliveries only while they are active, with the progress so far", async () => {
      const ended = { state: "disabled", reason: "410 Gone" } as const;
      for (const id of ["wh_a", "wh_b"]) await webhooks().addWebhook(webhookNamed(id), anEntry);
      await claimed("one");
      const change = { state: "paused", stateReason: "by hand" } as const;
      await webhooks().changeWebhook("wh_b", 1, change, anEntry);
      const both = [delivered("wh_a", 2, { ended }), delivered("wh_b", 3, { ended })];
      expect(await webhooks().saveDelivered("one", both)).toEqual(["wh_a", "wh_b"]);
      expect(await get("wh_a")).toMatchObject({
        state: "disabled",
        stateReason: "410 Gone",
        cursor: { seq: 2 },
      });
      expect(await get("wh_b")).toMatchObject({ ...change, cursor: { seq: 3 } });
      expect(await claimed("one")).toEqual([]);
    });

    test("keep the last attempts only, each webhook its own", async () => {
      for (const id of ["wh_a", "wh_b"]) await webhooks().addWebhook(webhookNamed(id), anEntry);
      await claimed("one");
      const range = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_, at) => from + at);
      const save = (id: string, from: number, to: number) => {
        const attempts = range(from, to).map((number) => attempt(number));
        return delivered(id, to, { attempts });
      };
      await webhooks().saveDelivered("one", [save("wh_a", 1, attemptsKept - 1)]);
      expect(await numbersOf("wh_a")).toHaveLength(attemptsKept - 1);
      await webhooks().saveDelivered("one", [
        save("wh_a", attemptsKept, attemptsKept + 2),
        save("wh_b", 1, attemptsKept + 5),
      ]);
      expect(await numbersOf("wh_a")).toEqual(range(3, attemptsKept + 2).reverse());
      expect(await numbersOf("wh_b")).toEqual(range(6, attemptsKept + 5).reverse());
      await webhooks().saveDelivered("one", [save("wh_b", 900, 900)]);
      expect(await numbersOf("wh_b")).toEqual([900, ...range(7, attemptsKept + 5).reverse()]);
      expect(await numbersOf("wh_a")).toHaveLength(attemptsKept);
    });
  });
}
