import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { issueOperator } from "../support/admin/operators.ts";
import { adminContract, apiContract, operationsOf } from "../support/contract/document.ts";
import { runs } from "../support/properties/runs.ts";
import { startTestService, type TestService } from "../support/service.ts";

// What the description forbids gets 400, and what it allows does not. test/contract/bounds.full.test.ts checks
// each field by itself; here are rules about several fields, and patterns.

let service: TestService;
let keys: Record<string, string>;
beforeAll(async () => {
  service = await startTestService("sqlite");
  await service.addPets({ petId: 1n, quantity: 3 });
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const api = (await service.issueKey({ plan: "enterprise", limits })).text;
  keys = { "/v1": api, "/admin": (await issueOperator(service)).text };
});
afterAll(() => service.stop());

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** Whether the service refuses a request because of its form. */
async function isRefused(basePath: string, { method = "GET", path, ...sent }: Sent) {
  const { status } = await service.call(method, `~${basePath}${path}`, {
    key: keys[basePath]!,
    ...sent,
  });
  expect(status).toBeLessThan(500);
  return status === 400;
}

/** Checks both sides many times: values that are allowed, and values that are not. */
async function expectAgreement<T>(
  values: fc.Arbitrary<T>,
  isAllowed: (value: T) => boolean,
  toRequest: (value: T) => Sent,
  basePath: string,
): Promise<void> {
  const seen = { allowed: 0, forbidden: 0 };
  const agrees = async (value: T) => {
    const kind = isAllowed(value) ? "allowed" : "forbidden";
    seen[kind] += 1;
    const refused = await isRefused(basePath, toRequest(value));
    expect([value, refused ? "forbidden" : "allowed"]).toEqual([value, kind]);
  };
  await fc.assert(fc.asyncProperty(values, agrees), runs(80));
  expect(Math.min(seen.allowed, seen.forbidden)).toBeGreaterThan(5);
}

/** Texts that a pattern allows, some of them with one character inserted, removed or replaced. */
function nearly(pattern: string): fc.Arbitrary<string> {
  const allowed = fc.stringMatching(new RegExp(pattern), { size: "small" });
  const character = fc.constantFrom("", ...'09-+:TZ" \\,a(%%%ééé');
  const edited = fc
    .tuple(allowed, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(1), character)
    .map(([text, place, removed, added]) => {
      const at = Math.floor(place * text.length);
      return text.slice(0, at) + added + text.slice(at + removed);
    });
  return fc.oneof(allowed, edited);
}

/** What no pattern says, and the description does in words: a day of the calendar, in the past, or a safe integer. */
function isRealMoment(text: string): boolean {
  if (/^\d+$/.test(text)) return Number.isSafeInteger(Number(text));
  const [, day = "", year = ""] = /^((\d{4})-\d\d-\d\d)/.exec(text) ?? [];
  const start = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(start.getTime())) return !/^\d{4}-\d\d-\d\d/.test(text);
  const isDay = start.toISOString().startsWith(day) && !/[Tt]24/.test(text);
  return isDay && Number(year) > 0 && Number(year) < 2026;
}

describe.each([
  ["openapi.json", apiContract],
  ["openapi-admin.json", adminContract],
] as const)("%s", (_file, { document, basePath }) => {
  const endpoints = operationsOf(document);
  const patternOf = (path: string, name: string) => {
    const found = endpoints.find((one) => one.path === path && named(one, name));
    return named(found!, name)!.schema.pattern!;
  };
  const named = ({ operation }: (typeof endpoints)[0], name: string) =>
    operation.parameters?.find((one) => one.name === name);

  test("a change is allowed if and only if it has the fields of its schema, with values of these", async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "api", components: document.components });
    const check = ajv.getSchema("api#/components/schemas/StockChange")!;
    const one = (name: string, good: unknown, ...bad: unknown[]) =>
      fc.oneof(
        { arbitrary: fc.constant([name, good] as const), weight: 5 },
        fc.constantFrom(...bad, null).map((value) => [name, value] as const),
      );
    const pet = one("petId", 1, "1", 1.5);
    const [quantity, delta] = [one("quantity", 5, -1, "5"), one("delta", 1, 0.5)];
    const status = one("status", "sold", "lost");
    const others = [
      one("expectedVersion", 1, 0, "1"),
      one("reason", "🐢".repeat(200), "🐢".repeat(201), "a\u0000", "\u0085", 5),
      one("countedAt", "e-1", 1, -1, "1", "a/b-1", "e-01", ""),
      one("countedTime", "2026-01-01T00:00:00Z", 5),
      one("note", 1),
    ];
    const fewOf = (all: readonly (typeof pet)[], most: number) =>
      fc.subarray([...all], { maxLength: most }).chain((list) => fc.tuple(...list));
    const amount = fc.oneof(quantity, delta).map((one) => [one]);
    const amounts = fc.oneof(amount, fewOf([quantity, delta, status], 2));
    const change = fc
      .tuple(pet, amounts, fc.oneof(fewOf(others, 1), fewOf(others, 2)))
      .map(([id, some, rest]): object => Object.fromEntries([id, ...some, ...rest]));
    await expectAgreement(
      change,
      (one) => check(one) === true,
      (one) => ({
        method: "POST",
        path: "/changes",
        body: JSON.stringify({ dryRun: true, changes: [one] }),
      }),
      basePath,
    );
    for (const one of [{}, { quantity: 1 }, { petId: 1 }, { petId: 1, quantity: 1, delta: 1 }]) {
      expect(check(one)).toBe(false);
    }
  });

  const header = (name: string, value: string) => ({ [name]: value });
  const change = {
    method: "POST",
    path: "/changes",
    body: '{"dryRun":true,"changes":[{"petId":1,"delta":0}]}',
  };

  test("an Idempotency-Key is allowed if and only if it matches its pattern", async () => {
    const pattern = patternOf("/changes", "Idempotency-Key");
    const long = fc.constantFrom(
      ...[255, 256].flatMap((size) => ["a", '"'].map((one) => one.padEnd(size, "a"))),
    );
    await expectAgreement(
      fc.oneof(
        { arbitrary: nearly(pattern), weight: 9 },
        long,
        long.map((one) => `"${one}"`),
      ),
      (value) => new RegExp(pattern).test(value.trim()),
      (value) => ({ ...change, headers: header("Idempotency-Key", value) }),
      basePath,
    );
  });

  test("a moment is allowed if and only if it matches its pattern", async () => {
    const path = "/snapshots/{moment}";
    const pattern = patternOf(path, "moment");
    await expectAgreement(
      nearly(pattern).filter((one) => isRealMoment(one) && !/^\.{0,2}$/.test(one)),
      (value) => new RegExp(pattern).test(value),
      (value) => ({ path: path.replace("{moment}", encodeURIComponent(value)) }),
      basePath,
    );
  });
});

test.each(["If-Match", "X-Change-Reason"])(
  "an update is allowed if and only if its %s matches the pattern",
  async (name) => {
    const endpoint = operationsOf(apiContract.document).find(
      ({ operation }) => operation.operationId === "updateInventory",
    )!;
    const { schema } = endpoint.operation.parameters!.find((one) => one.name === name)!;
    const pattern = schema.pattern!;
    await expectAgreement(
      // The description says in words that the bytes must be UTF-8, and no control characters.
      nearly(pattern).filter((one) => /^[ -~é]*$/.test(one) && !/%(?:[0189a-f].|7f)/i.test(one)),
      (value) => new RegExp(pattern).test(value.trim()),
      (value) => ({
        ...{ method: "PATCH", path: "/inventory/1", body: '{"quantity":1}' },
        headers: { [name]: value },
      }),
      "/v1",
    );
  },
);
