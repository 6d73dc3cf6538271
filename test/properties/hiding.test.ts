import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beginSession } from "../../src/domain/catalogue/assistant-sessions.ts";
import { generateKeyId, generateKeyText, generateToken } from "../../src/domain/keys/keys.ts";
import { randomId } from "../../src/domain/values/base62.ts";
import { shownAddress, withoutKeys, withoutSecrets } from "../../src/domain/values/hiding.ts";
import { generateSecret } from "../../src/domain/webhooks/secrets.ts";
import { nextRequestId } from "../../src/http/messages/requests.ts";

type Disguise = (text: string, at: number) => string;

const hex = (text: string, most = 127) =>
  Buffer.from(text)
    .toString("latin1")
    .replace(/./gs, (one) => {
      const code = one.charCodeAt(0);
      return code > most ? one : `%${code.toString(16).padStart(2, "0")}`;
    });

/** What people and programs make of a key on its way into a path. */
const disguises: Readonly<Record<string, Disguise>> = {
  "as it is": (text) => text,
  "in capitals": (text) => text.toUpperCase(),
  "without its prefix": (text) => text.replace(/^(?:ps[ko]_(?:live|test)|whsec)_/, ""),
  "with dashes": (text) => text.replaceAll("_", "-"),
  "in groups": (text) => text.replace(/(?<=^(?:.{4})+)(?!$)/g, "-"),
  "with its underlines encoded": (text) => text.replaceAll("_", "%5F"),
  encoded: (text) => hex(text),
  "encoded twice": (text) => hex(text).replaceAll("%", "%25"),
  "encoded five times": (text) => hex(text).replaceAll("%", "%25252525"),
  "encoded with an encoded encoding": (text) => hex(hex(text)),
  "partly encoded": (text, at) => text.slice(0, at) + hex(text.slice(at)),
  "cut by a space": (text, at) => `${text.slice(0, at)}%20${text.slice(at)}`,
  "cut by spaces": (text) => text.replace(/.{9}/g, "$&%2520"),
  "cut by a line break": (text, at) => `${text.slice(0, at)}%0D%0A${text.slice(at)}`,
  "cut by a space of no width": (text, at) => `${text.slice(0, at)}%E2%80%8B${text.slice(at)}`,
  "with its prefix, cut by a point": (text, at) =>
    /^ps[ko]_/.test(text) ? `${text.slice(0, 9 + at)}.${text.slice(9 + at)}` : text,
  "encoded as in scripts": (text) => hex(text).replaceAll("%", "%u00"),
  "as basic credentials": (text) => btoa(`till:${text}`),
  "as basic credentials of a URL": (text) => Buffer.from(`till:${text}`).toString("base64url"),
  "as a parameter": (text) => `key=${text}`,
  "as a parameter in the path": (text) => `inventory%3Fkey=${text}&a=1`,
  "with a word before it": (text) => `token-${text}`,
};

const secrets = fc.constantFrom(
  () => generateKeyText("production"),
  () => generateKeyText("staging"),
  () => generateKeyText("production", "operator"),
  generateToken,
  // Its base64 can have a slash, which ends a part of a path.
  () => generateSecret().replaceAll("/", "_"),
);
const around: readonly ((text: string) => string)[] = [
  (text) => `/v1/${text}`,
  (text) => `/v1/pets/${text}/history`,
  (text) => `/${text}/v1/inventory`,
  (text) => `Path not found. Did you mean /v1/pets/${text}?`,
  (text) => `Unknown query parameter '${text}'. Known here: at, limit.`,
  (text) => `till/2.4 (${text}; de)`,
];

/** Whether a text, decoded in any way, still has a long piece of the other one. */
function has(shown: string, secret: string): boolean {
  const bare = secret.replace(/^(?:ps[ko]_(?:live|test)|whsec)_/, "").toLowerCase();
  let text = shown;
  for (let count = 0; count < 6; count++) {
    text = text.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  }
  const words = text.split(/[^\w+/=-]+/).map((word) => Buffer.from(word, "base64").toString());
  const all = [text, ...words].map((one) => one.toLowerCase().replace(/[^a-z0-9]/g, ""));
  const wanted = bare.replace(/[^a-z0-9]/g, "");
  for (let at = 0; at + 12 <= wanted.length; at += 4) {
    if (all.some((one) => one.includes(wanted.slice(at, at + 12)))) return true;
  }
  return false;
}

describe("a key never survives in a request", () => {
  for (const [name, disguise] of Object.entries(disguises)) {
    test(name, () => {
      fc.assert(
        fc.property(
          secrets,
          fc.integer({ min: 1, max: 40 }),
          fc.constantFrom(...around),
          (generate, at, put) => {
            const secret = generate();
            const text = put(disguise(secret, at));
            const shown = withoutKeys(text);
            expect([text, shown, has(shown, secret)]).toEqual([text, shown, false]);
            expect(withoutKeys(shown)).toBe(shown);
          },
        ),
        { numRuns: 200 },
      );
    });
  }
});

test("ids of ours, integers and short names always stay, wherever they are", () => {
  const ids = fc.oneof(
    fc
      .constantFrom(
        generateKeyId,
        nextRequestId,
        () => randomId("wh_"),
        () => randomId("msg_"),
      )
      .map((make) => make()),
    fc.constant(0).map(() => `msg_${randomBytes(16).toString("hex")}`),
    fc.nat().map((at) => `req_${randomBytes(6).toString("hex")}_${at}`),
    fc.nat().map((now) => beginSession(generateKeyId(), now)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fc.bigInt({ min: 0n, max: 10n ** 60n }).map(String),
    fc.constantFrom("inventory", "H%C3%BCndchen", "a%20b", "2026-11-19T08:00:00.000Z", "100%", "%"),
  );
  fc.assert(
    fc.property(ids, ids, fc.constantFrom(...around), (one, other, put) => {
      for (const text of [put(one), put(`${one}/${other}`)]) expect(withoutKeys(text)).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

test("every path, name and message of the description stays as it is", () => {
  const description = JSON.parse(
    readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"),
  );
  const messages = JSON.stringify(description).matchAll(/"message":"((?:[^"\\]|\\.)*)"/g);
  const texts = [...messages].map(([, text]) => JSON.parse(`"${text}"`) as string);
  expect(texts.length).toBeGreaterThan(50);
  for (const text of [...Object.keys(description.paths), ...texts]) {
    expect(withoutKeys(text)).toBe(text);
  }
});

test("a text of any kind takes little time, and what is encoded without end is hidden", () => {
  const started = performance.now();
  for (const part of [
    "%25",
    "%",
    "postgres://",
    "a:",
    "@",
    "%2",
    "a%20",
    "'",
    "password=",
    "//",
    "%32%35",
  ]) {
    withoutKeys(part.repeat(500 / part.length));
    withoutSecrets(part.repeat(8_000 / part.length));
  }
  expect(performance.now() - started).toBeLessThan(1_000);
  let nested = "a";
  for (let count = 0; count < 11; count++) nested = hex(nested);
  expect(withoutKeys(nested)).toBe("[hidden]");
});

describe("the address in a message or a value is shown without user and password", () => {
  test.each([
    ["s3:/me:hunter2@bucket/a", "s3:/[hidden]@bucket/a"],
    ["s3://me:hunter/2@bucket/a", "s3://[hidden]@bucket/a"],
    ["/srv/shop/s3:/me:hunter2@bucket/a", "/srv/shop/s3:/[hidden]@bucket/a"],
    ["me:hunter2@bucket/a", "[hidden]@bucket/a"],
    ["me%3Ahunter2@bucket", "[hidden]@bucket"],
    ["https//hunter2@bucket", "[hidden]@bucket"],
    ["http:/hunter2@bucket", "http:/[hidden]@bucket"],
    ["http://me:hunter2", "http://[hidden]"],
    ["http:/host/a?token=hunter2", "http:/host/a?[hidden]"],
    ["host:80/a?token=hunter2", "host:80/a?[hidden]"],
    ["sqlite:/me:hunter2@host/a.db", "sqlite:[hidden]@host/a.db"],
  ])("%s", (text, shown) => {
    expect(shownAddress(text)).toBe(shown);
    expect(withoutSecrets(`cannot read '${text}': no such file`)).toBe(
      `cannot read '${shown}': no such file`,
    );
  });

  test.each([
    "./data/backups",
    "s3://bucket/prefix",
    "sqlite:/srv/shop@home/a.db",
    "/srv/me@home/a.db",
    "me@shop.example",
    "http://127.0.0.1:8080/v1",
    "http://[::1]:8080/v1",
    "https://a.example,https://b.example:8443",
    "postgres://me@db/shop",
    "127.0.0.1:1/shop",
  ])("%s has none", (text) => {
    expect(shownAddress(text)).toBe(text);
    expect(withoutSecrets(`it is at ${text}: see docs/backup.md`)).toBe(
      `it is at ${text}: see docs/backup.md`,
    );
  });
});
