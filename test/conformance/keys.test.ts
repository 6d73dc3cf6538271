import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyText, isKeyText } from "../../src/domain/keys/keys.ts";
import { anEntry } from "../support/audit.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { expectError } from "../support/responses.ts";

onEveryEngine("keys", (service) => {
  const ask = (key: string) => service().call("GET", "/inventory", { key });

  test("[open.key-format] a key names its environment, has 256 random bits and a checksum", () => {
    const live = generateKeyText("production");
    expect(live).toMatch(/^psk_live_[0-9A-Za-z]{49}$/);
    expect(generateKeyText("staging")).toMatch(/^psk_test_[0-9A-Za-z]{49}$/);
    expect(isKeyText(live, "production")).toBe(true);
    expect(isKeyText(live, "staging")).toBe(false);
    for (let at = "psk_live_".length; at < live.length; at++) {
      const typo = live.slice(0, at) + (live[at] === "0" ? "1" : "0") + live.slice(at + 1);
      expect(isKeyText(typo, "production")).toBe(false);
    }
    expect(new Set(Array.from({ length: 100 }, () => generateKeyText("production"))).size).toBe(
      100,
    );
  });

  test("[open.key-storage] only a key's SHA-256 is stored; its secret is in no file and no log", async () => {
    const { id, text } = await service().issueKey({ name: "till" });
    await ask(text);
    await ask(`${text}x`);
    const digest = createHash("sha256").update(text).digest("hex");
    expect((await service().store.keys.findSecret(digest))?.key.id).toBe(id);
    const kept = await service().store.keys.findKey(id);
    expect(kept).toMatchObject({ name: "till", plan: "business", revokedAt: null });
    expect(JSON.stringify(await service().store.keys.listKeys())).not.toContain(text);
    expect(service().logged.join("\n")).not.toContain(text);
    for (const bytes of databaseFiles(service().databaseUrl)) {
      expect(bytes.includes(text)).toBe(false);
    }
  });

  test("[open.key-changes] creating, revoking and rotating take effect on the next request", async () => {
    const { clock, store } = service();
    const first = await service().issueKey();
    expect((await ask(first.text)).status).toBe(200);

    const second = generateKeyText("production");
    expectError(await ask(second), "unauthorized");
    const overlapMs = 60_000;
    await store.keys.addSecret(
      first.id,
      digestOf(second),
      clock.now(),
      clock.now() + overlapMs,
      anEntry,
    );
    expect((await ask(second)).status).toBe(200);
    expect((await ask(first.text)).status).toBe(200);
    clock.advance(overlapMs);
    expectError(await ask(first.text), "unauthorized");
    expect((await ask(second)).status).toBe(200);

    await store.keys.revokeKey(first.id, clock.now(), anEntry);
    expectError(await ask(second), "unauthorized");
  });

  test("[open.key-expiry] a key is valid until the instant it expires", async () => {
    const { clock } = service();
    const { text } = await service().issueKey({ expiresAt: clock.now() + 1_000 });
    clock.advance(999);
    expect((await ask(text)).status).toBe(200);
    clock.advance(1);
    expectError(await ask(text), "unauthorized");
  });

  test("[open.key-rotation] both secrets of a rotated key share one limit", async () => {
    const { clock, store } = service();
    const limits = { perMinute: 2, perDay: 10 };
    const { id, text } = await service().issueKey({ plan: "enterprise", limits });
    const other = generateKeyText("production");
    await store.keys.addSecret(id, digestOf(other), clock.now(), clock.now() + 60_000, anEntry);
    expect((await ask(text)).status).toBe(200);
    expect((await ask(other)).status).toBe(200);
    expectError(await ask(text), "rate_limit_exceeded");
  });
});

/** The bytes of every file of an embedded database. Empty for a database server. */
function databaseFiles(databaseUrl: string): Buffer[] {
  if (!databaseUrl.startsWith("sqlite:")) return [];
  const path = databaseUrl.slice("sqlite:".length);
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => readFileSync(join(dirname(path), name)));
}
