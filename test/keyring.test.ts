import { expect, test } from "bun:test";
import { createKeyring } from "../src/domain/keys/keyring.ts";
import { defaultScopes, generateKeyText, type Key } from "../src/domain/keys/keys.ts";
import type { FoundSecret } from "../src/domain/keys/store.ts";
import { plans } from "../src/domain/limits/plans.ts";
import { createTestClock } from "./support/clock.ts";

test("a key that was read before it was revoked is not used again after that", async () => {
  const terms = { name: "till", plan: "free", limits: plans.free, scopes: defaultScopes } as const;
  const key: Key = { id: "key_a", ...terms, createdAt: 0, expiresAt: null, revokedAt: null };
  const reads: ((found: FoundSecret) => void)[] = [];
  const findSecret = () => new Promise<FoundSecret>((resolve) => reads.push(resolve));
  const keyring = createKeyring({ findSecret }, createTestClock(), "production", 10);
  const text = generateKeyText("production");
  const secret = { digest: "", expiresAt: null };

  const before = keyring.identify(text);
  keyring.clear();
  reads[0]!({ key, secret });
  expect(await before).toMatchObject({ keyId: "key_a" });
  const after = keyring.identify(text);
  expect(reads).toHaveLength(2);
  reads[1]!({ key: { ...key, revokedAt: 1 }, secret });
  expect(await after).toBeUndefined();
});
