import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import {
  isWebhookVerificationError,
  jsonReplacer,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeaders,
} from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";

// Signatures are made by `standardwebhooks`, an implementation that is not ours.

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const otherSecret = `whsec_${btoa("another secret, of 32 bytes+++++")}`;
const id = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W";
const sentAt = new Date("2026-11-15T10:00:00Z");
const petId = 9_223_372_036_854_775_807n;
const row = `{"seq":7,"petId":${petId},"before":{"quantity":3,"status":"sold"},"after":null,"cause":"import","keyId":null,"keyName":null,"reason":"é 🐈","requestId":null,"at":"2026-11-15T09:59:59.000Z"}`;
const body = `{"type":"inventory.changed","timestamp":"2026-11-15T09:59:59.000Z","data":{"changes":[${row}],"cursor":"a-7"}}`;

const sign = (text = body, at = sentAt, secrets = [secret]) => ({
  "webhook-id": id,
  "webhook-timestamp": String(at.getTime() / 1000),
  "webhook-signature": secrets.map((one) => new Webhook(one).sign(id, at, text)).join(" "),
});

const now = () => sentAt.getTime();
const verify = (
  headers: WebhookHeaders,
  text: Parameters<typeof verifyWebhook>[1] = body,
  secrets: string | readonly string[] = secret,
  options: VerifyWebhookOptions = { now },
) => verifyWebhook(headers, text, secrets, options);

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await rejectionOf(work);
  if (!isWebhookVerificationError(error)) throw error;
  expect(error.message).not.toContain("whsec_");
  return error.reason;
}

describe("a signed message", () => {
  test("is returned with exact ids, from a string or from bytes", async () => {
    const bytes = new TextEncoder().encode(body);
    const inside = new Uint8Array([0, ...bytes, 0]).subarray(1, -1);
    for (const form of [body, bytes, bytes.buffer, Buffer.from(body), inside]) {
      const { type, timestamp, data } = await verify(sign(), form);
      expect([type, timestamp, data.cursor]).toEqual([
        "inventory.changed",
        "2026-11-15T09:59:59.000Z",
        "a-7",
      ]);
      expect(data.changes).toMatchObject([{ seq: 7, petId, after: null, reason: "é 🐈" }]);
      expect(JSON.stringify(data, jsonReplacer)).toContain(`"petId":${petId},`);
    }
  });

  test("is also accepted as a test, which has no changes", async () => {
    const text = body.replace("inventory.changed", "test").replace(row, "");
    const { type, data } = await verify(sign(text), text);
    expect([type, data.changes]).toEqual(["test", []]);
  });

  test("is accepted with headers in any form and any case", async () => {
    const headers = sign();
    const entries = Object.entries(headers);
    const forms: WebhookHeaders[] = [
      new Headers(headers),
      Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])),
      Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
      { ...headers, host: "shop.example", cookie: undefined, "set-cookie": ["a", "b"] },
    ];
    for (const form of forms) expect((await verify(form)).data.cursor).toBe("a-7");
  });

  test("is accepted with any valid secret and any valid signature, as during a rotation", async () => {
    const plain = secret.slice("whsec_".length);
    const both = sign(body, sentAt, [otherSecret, secret]);
    for (const [headers, secrets] of [
      [sign(), plain],
      [sign(), [otherSecret, secret]],
      [both, secret],
      [both, [otherSecret]],
      [{ ...both, "webhook-signature": `v1a,AAAA v2,x ${both["webhook-signature"]}` }, secret],
    ] as const) {
      expect((await verify(headers, body, secrets)).data.cursor).toBe("a-7");
    }
  });

  test("is accepted within the tolerance, five minutes in both directions by default", async () => {
    const at = (ms: number) => ({ now: () => sentAt.getTime() + ms });
    for (const ms of [-300_000, -1, 0, 300_000]) await verify(sign(), body, secret, at(ms));
    expect(await reasonOf(verify(sign(), body, secret, at(300_001)))).toBe("too_old");
    expect(await reasonOf(verify(sign(), body, secret, at(-300_001)))).toBe("too_new");
    const strict = { ...at(2000), toleranceMs: 1000 };
    expect(await reasonOf(verify(sign(), body, secret, strict))).toBe("too_old");
    const second = new Date(Math.floor(Date.now() / 1000) * 1000);
    await verify(sign(body, second), body, secret, {});
    expect(await reasonOf(verify(sign(), body, secret, {}))).toBe("too_old");
  });
});

describe("a message is rejected", () => {
  test("if it was signed with another secret, or if any signed part was changed", async () => {
    const headers = sign();
    const signature = headers["webhook-signature"];
    const flipped = signature.replace(/,./, (start) => (start === ",A" ? ",B" : ",A"));
    const second = String(sentAt.getTime() / 1000 + 1);
    const attempts: Parameters<typeof verify>[] = [
      [headers, body, otherSecret],
      [sign(body, sentAt, [otherSecret])],
      [headers, body.replace('"quantity":3', '"quantity":4')],
      [headers, `${body} `],
      [headers, ""],
      [headers, JSON.stringify(JSON.parse(body))],
      [{ ...headers, "webhook-id": `${id}x` }],
      [{ ...headers, "webhook-timestamp": second }],
      [{ ...headers, "webhook-timestamp": `0${headers["webhook-timestamp"]}` }],
      [{ ...headers, "webhook-signature": flipped }],
      [{ ...headers, "webhook-signature": signature.slice(0, -4) }],
      [{ ...headers, "webhook-signature": "v1," }],
      [{ ...headers, "webhook-signature": `v1a${signature.slice(2)} v1,AAAA` }],
    ];
    for (const attempt of attempts) {
      expect(await reasonOf(verify(...attempt))).toBe("wrong_signature");
    }
  });

  test("if a header is missing, repeated or not readable", async () => {
    const headers = sign();
    for (const name of Object.keys(headers) as (keyof typeof headers)[]) {
      for (const missing of [undefined, "", []]) {
        expect(await reasonOf(verify({ ...headers, [name]: missing }))).toBe("missing_header");
      }
      for (const twice of [[headers[name], headers[name]], [7]]) {
        const form = { ...headers, [name]: twice } as WebhookHeaders;
        expect(await reasonOf(verify(form))).toBe("invalid_header");
      }
      const both = { ...headers, [name.toUpperCase()]: headers[name] };
      expect(await reasonOf(verify(both))).toBe("invalid_header");
    }
    expect(await reasonOf(verify(new Headers()))).toBe("missing_header");
    for (const timestamp of ["now", "-1", "1e9", "1.5", " ", "9".repeat(13), "0x10"]) {
      const form = { ...headers, "webhook-timestamp": timestamp };
      expect(await reasonOf(verify(form))).toBe("invalid_header");
    }
    for (const signature of ["v1", "v1a,AAAA", "garbage", ",,,", "v1,ä", "v1,A B", "v1,=A"]) {
      const form = { ...headers, "webhook-signature": signature };
      expect(await reasonOf(verify(form))).toBe("invalid_header");
    }
  });

  test("if it is signed but not a message that this version knows", async () => {
    for (const text of [
      "",
      "[]",
      "{}",
      body.replace("inventory.changed", "inventory.burned"),
      body.replace('"cursor":"a-7"', '"cursor":7'),
      body.replace('"seq":7,', ""),
      body.replace(/"changes":\[.*\]/, '"changes":{}'),
    ]) {
      expect(await reasonOf(verify(sign(text), text))).toBe("unexpected_body");
    }
    // The independent package signs text only.
    const bytes = Buffer.from(body);
    bytes[bytes.indexOf("é")] = 0xff;
    const hmac = createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64"));
    hmac.update(`${id}.${sentAt.getTime() / 1000}.`).update(bytes);
    const headers = { ...sign(), "webhook-signature": `v1,${hmac.digest("base64")}` };
    expect(await reasonOf(verify(headers, bytes))).toBe("unexpected_body");
  });
});

test("a call with unusable arguments rejects with a TypeError that shows no secret", async () => {
  const headers = sign();
  for (const secrets of ["", [], "whsec_", "whsec_not base64!", [secret, "ä"], [7]]) {
    const error = await rejectionOf(verify(headers, body, secrets as string, { now }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).not.toContain("base64!");
  }
  for (const wrong of [{}, null, JSON.parse(body)]) {
    expect(await rejectionOf(verify(headers, wrong))).toBeInstanceOf(TypeError);
  }
  expect(await rejectionOf(verify(undefined as unknown as Headers))).toBeInstanceOf(TypeError);
  const options = { toleranceMs: Number.NaN };
  expect(await rejectionOf(verify(headers, body, secret, options))).toBeInstanceOf(RangeError);
});
