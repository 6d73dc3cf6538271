import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { openWorkspace, type Served } from "../support/process.ts";
import { call } from "../support/service.ts";
import { expectUsageError } from "../support/usage-errors.ts";

interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

const place = openWorkspace();
let service: Served;
beforeAll(async () => {
  service = await place.serve();
});
afterAll(() => place.leave());

const issue = (...words: string[]) =>
  place.json<IssuedKey & Record<string, unknown>>("keys", "create", "--name", "till", ...words);
const list = (key: string) => call(service.baseUrl, "GET", "/inventory", { key });

describe("while the service runs", () => {
  test("a new key works on the next request and is listed as it was created", async () => {
    const { key, ...shown } = await issue("--plan", "free");
    expect((await list(key)).status).toBe(200);
    expect(key).toMatch(/^psk_live_[0-9A-Za-z]{49}$/);
    expect(shown).toMatchObject({ name: "till", plan: "free", perMinute: 60, perDay: 1000 });
    const { lastUsedAt, ...described } = await place.json("keys", "show", shown.id);
    expect(described).toEqual(expect.objectContaining({ id: shown.id, revokedAt: null }));
    expect(lastUsedAt === null || typeof lastUsedAt === "string").toBe(true);
    const keys = await place.json<{ id: string }[]>("keys", "list");
    expect(keys.map((one) => one.id)).toContain(shown.id);
  });

  test("an operator key has the role that was asked for, and is an owner's without", async () => {
    const owner = await issue("--operator");
    const clerk = await issue("--operator", "--role", "clerk");
    expect([owner.role, clerk.role]).toEqual(["owner", "clerk"]);
    const keys = (key: string) => call(service.baseUrl, "GET", "~/admin/keys", { key });
    expect((await keys(owner.key)).status).toBe(200);
    expect((await keys(clerk.key)).status).toBe(403);
    const shown = await place.runHere(["keys", "show", clerk.id]);
    expect(shown.out).toMatch(/^role +clerk$/m);
    const listed = await place.runHere(["keys", "list"]);
    expect(listed.out).toMatch(new RegExp(`^${clerk.id} +till +operator, clerk +active`, "m"));
    expect(await place.runHere(["verify"])).toMatchObject({ code: 0 });
  });

  test("a revoked key is refused on the next request, and stays revoked", async () => {
    const { id, key } = await issue("--plan", "pro");
    expect((await list(key)).status).toBe(200);
    const first = await place.json("keys", "revoke", id);
    expect((await list(key)).status).toBe(401);
    expect(await place.json("keys", "revoke", id)).toEqual(first);
    expectUsageError(await place.runHere(["keys", "rotate", id]), `key ${id} is revoked`);
  });

  test("the last key of an owner is revoked only with --force", async () => {
    const own = openWorkspace();
    const create = ["keys", "create", "--operator", "--name"];
    const first = await own.json<{ id: string }>(...create, "Ada");
    await own.json(...create, "Clerk", "--role", "clerk");
    expectUsageError(await own.runHere(["keys", "revoke", first.id]), "repeat this with 'force'");
    expect(await own.json("keys", "show", first.id)).toMatchObject({ state: "active" });
    const second = await own.json<{ id: string }>(...create, "Grace");
    expect(await own.json("keys", "revoke", first.id)).not.toMatchObject({ revokedAt: null });
    expectUsageError(await own.runHere(["keys", "revoke", second.id]), "No other owner");
    const forced = await own.json("keys", "revoke", second.id, "--force");
    expect(forced).not.toMatchObject({ revokedAt: null });
    await own.leave();
  });

  test("both secrets of a rotated key work during the overlap, and only the new one after it", async () => {
    const { id, key } = await issue("--plan", "business");
    const second = await place.json<IssuedKey>("keys", "rotate", id, "--overlap", "1h");
    expect((await list(key)).status).toBe(200);
    expect((await list(second.key)).status).toBe(200);
    const third = await place.json<IssuedKey>("keys", "rotate", id, "--overlap", "0");
    expect((await list(key)).status).toBe(401);
    expect((await list(second.key)).status).toBe(401);
    expect((await list(third.key)).status).toBe(200);
    expectUsageError(
      await place.runHere(["keys", "rotate", id, "--overlap", "soon"]),
      "--overlap must",
    );
  });

  test("both secrets of a rotated key count against one limit", async () => {
    const { id, key } = await issue("--plan", "enterprise", "--per-minute", "90", "--per-day", "3");
    const second = await place.json<IssuedKey>("keys", "rotate", id);
    const answers = [await list(key), await list(second.key), await list(key)];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
    expect((await list(second.key)).status).toBe(429);
  });

  test("a key has the scopes, limits and expiry that were given", async () => {
    const words = ["--plan", "enterprise", "--per-minute", "7", "--per-day", "9"];
    const { key, ...shown } = await issue(
      ...words,
      "--scopes",
      "orders:read, pets:read",
      "--expires",
      "2099-01-01",
    );
    expect(shown).toMatchObject({ perMinute: 7, perDay: 9, scopes: ["pets:read", "orders:read"] });
    expect(shown.expiresAt).toBe("2099-01-01T00:00:00.000Z");
    const answer = await list(key);
    expect(answer.status).toBe(403);
    expect(answer.headers.get("x-ratelimit-limit")).toBe("7");
  });

  test("a key without --scopes can read the history", async () => {
    const { key, scopes } = await issue("--plan", "free");
    expect(scopes).toContain("history:read");
    expect((await call(service.baseUrl, "GET", "/changes/head", { key })).status).toBe(200);
  });

  test("unban reports whether there was a ban", async () => {
    const { id } = await issue("--plan", "free");
    expect(await place.json("keys", "unban", id)).toEqual({ id, lifted: false });
  });
});

test("without --json the result is text, with the secret on a separate line", async () => {
  const made = await place.runHere(["keys", "create", "--name", "by hand", "--plan", "free"]);
  expect(made.out).toMatch(/^Key key_\w+ \(by hand, free\)\. .*\npsk_live_\w+\n$/);
  const [, id] = /Key (key_\w+)/.exec(made.out)!;
  const until = "20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";
  const row = (text: string) => new RegExp(`^${id}  by hand +free +${text}$`, "m");
  const listed = () => place.runHere(["keys", "list"]).then(({ out }) => out);
  expect(await listed()).toMatch(/^ID +NAME +PLAN +STATE +LAST USED +TODAY +SECRETS\nkey_/);
  expect(await listed()).toMatch(row("active +- +0 of 1000 +1: no expiry"));
  expect((await place.runHere(["keys", "show", id!])).out).toMatch(/^id +key_\w+\nname +by hand\n/);
  expect((await place.runHere(["keys", "rotate", id!])).out).toContain(
    "The old key is valid until 20",
  );
  expect(await listed()).toMatch(row(`active +- +0 of 1000 +2: until ${until}, no expiry`));
  expect((await place.runHere(["keys", "unban", id!])).out).toBe(`Key ${id} was not banned.\n`);
  expect((await place.runHere(["keys", "revoke", id!])).out).toBe(
    `Key ${id} (by hand) is revoked.\n`,
  );
  expect(await listed()).toMatch(row("revoked +- +0 of 1000 +0"));
});

test("no secret is in a file of the database or in the output of the service", async () => {
  const texts: string[] = [];
  for (const plan of ["free", "pro"]) {
    const { id, key } = await issue("--plan", plan);
    texts.push(key, (await place.json<IssuedKey>("keys", "rotate", id)).key);
  }
  for (const key of texts) {
    expect((await list(key)).status).toBe(200);
    expect((await list(`${key}x`)).status).toBe(401);
  }
  const files = readdirSync(place.path("data"));
  expect(files.some((file) => file.endsWith("-wal"))).toBe(true);
  const kept = files.map((file) => readFileSync(place.path(`data/${file}`), "latin1"));
  for (const text of texts) {
    // Neither the whole secret nor its random part.
    for (const secret of [text, text.slice("psk_live_".length, -6)]) {
      expect(kept.some((content) => content.includes(secret))).toBe(false);
      expect(service.written()).not.toContain(secret);
    }
  }
});
