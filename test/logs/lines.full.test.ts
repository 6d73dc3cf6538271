import { expect, test } from "bun:test";
import fc from "fast-check";
import { generateKeyText, generateToken } from "../../src/domain/keys/keys.ts";
import { generateSecret } from "../../src/domain/webhooks/secrets.ts";
import { createLineWriter } from "../../src/log/lines.ts";
import { secretsOf } from "../../src/log/secrets.ts";
import { createScrubber, withoutSecrets } from "../../src/output.ts";

const known = secretsOf({
  databaseUrl: "postgres://me:p%40ss%20word-of-db@db.example/shop?sslpassword=key-of-tls",
  otlpEndpoint: "https://collector-user:collector-%70ass@collector.example/?api-key=collector-key",
  otlpHeaders: "authorization=Basic%20collector-one, x-token=collector-two",
  objectAccess: { secretAccessKey: "secret/of+storage", sessionToken: "token-of-storage" },
});

/** Texts that must not reach a line, and how they may be quoted. */
const secrets: readonly (readonly [secret: string, quoted: string])[] = [
  ...Array.from({ length: 5 }, () => generateKeyText("production")).map(quotedAsIs),
  quotedAsIs(generateKeyText("staging")),
  quotedAsIs(generateKeyText("production", "operator")),
  quotedAsIs(generateKeyText("staging", "operator")),
  ...cookiesWith(generateToken()),
  ...Array.from({ length: 5 }, generateSecret).map(quotedAsIs),
  ["dXNlcjpzZWNyZXQ=", "Authorization: Basic dXNlcjpzZWNyZXQ="],
  ["opaque-token.value", "authorization=Bearer opaque-token.value"],
  ["opaque-token.value", '{"Authorization":"Bearer opaque-token.value"}'],
  ["hunter2hunter2", "host=db user=me password=hunter2hunter2 dbname=shop"],
  ["hunter2 hunter2", "password='hunter2 hunter2' host=db"],
  ["hunter@zwei", "cannot reach postgres://me:hunter@zwei@db/shop"],
  ...known.map(quotedAsIs),
];

function quotedAsIs(secret: string): readonly [string, string] {
  return [secret, secret];
}

function cookiesWith(token: string): readonly (readonly [string, string])[] {
  return [
    [token, `Cookie: theme=dark; __Host-petstore_production=${token}`],
    [token, `{"set-cookie":"petstore_staging=${token}; Path=/; HttpOnly"}`],
    [token, `the session petstore_staging=${token} has ended`],
  ];
}

/** Everything, among it what would break a line, a terminal or a pattern. */
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "\x1b[2J",
    "\n",
    "\r\n",
    "\u2028",
    "\u202e",
    "\ud800",
    "psk_",
    "whsec_",
    "Bearer ",
  ),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters under test
const raw = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

test("no line has a secret or a raw control character, whatever surrounds them, and JSON stays valid", () => {
  const scrub = createScrubber(known);
  const json = createLineWriter("json", false, scrub);
  const text = createLineWriter("text", false, scrub);
  const secretIn = fc.constantFrom(...secrets);
  fc.assert(
    fc.property(hostile, secretIn, hostile, (before, [secret, quoted], after) => {
      const value = `${before} ${quoted} ${after}`;
      const errors = [value, { inner: value }, new Error(value)];
      const details = { error: value, errors, count: 5n };
      for (const line of [json("bug", details), text("bug", details)]) {
        expect(line).not.toContain(secret);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(line).not.toMatch(raw);
        expect(line.isWellFormed()).toBe(true);
      }
      const { level, event, count } = JSON.parse(json("bug", details));
      expect({ level, event, count }).toEqual({ level: "error", event: "bug", count: "5" });
    }),
    { numRuns: 2_000 },
  );
});

test("a text without a secret reaches the line unchanged", () => {
  for (const text of [
    "no such table: orders",
    "connection refused, or the host is unknown",
    'password authentication failed for user "me"',
    "/var/lib/petstore/production.db was deleted or moved away",
    "Zoë 🐕 日本 עברית",
    "postgres://me@db/shop",
  ]) {
    expect(withoutSecrets(text)).toBe(text);
    const line = createLineWriter("json", false, createScrubber(known))("bug", { error: text });
    expect(JSON.parse(line).error).toBe(text);
  }
});

test("a line of text has time, level, event and pairs, and colour only if that is wanted", () => {
  const details = { reason: "full", cause: "no space left", lines: 3, none: undefined };
  const plain = createLineWriter("text", false, withoutSecrets)("store not writable", details);
  expect(plain).toMatch(
    /^\d{4}-\d\d-\d\dT[\d:.]+Z ERROR store not writable reason=full cause="no space left" lines=3\n$/,
  );
  const coloured = createLineWriter("text", true, withoutSecrets)("store lost", {});
  expect(coloured).toContain("\x1b[31mERROR\x1b[0m store lost\n");
});
