import { expect } from "bun:test";
import fc from "fast-check";
import { generateKeyText } from "../../../src/domain/keys/keys.ts";
import { verify } from "../../../src/domain/verification/verify.ts";
import { type Engine, startTestService, type TestService } from "../service.ts";
import { feedRequest } from "./feed-requests.ts";
import { anyRequest, type FuzzedRequest, type KeyKind } from "./requests.ts";
import { knownPets } from "./values.ts";

/**
 * Sends requests generated from openapi.json and checks every response. No response may be
 * undocumented (the test service checks this) or a 5xx, no invalid request may succeed, and no valid
 * request may fail.
 */
export async function fuzz(
  engine: Engine,
  cases: number,
  seed: number,
): Promise<Map<number, number>> {
  const highLimits = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
  const service = await startTestService(engine, {
    "address-per-minute": "100000000",
    "streams-per-key": "1000",
  });
  const statuses = new Map<number, number>();
  try {
    await service.addPets(...knownPets.map((petId) => ({ petId })));
    const good = await service.issueKey({ plan: "enterprise", limits: highLimits });
    const narrow = await service.issueKey({ plan: "enterprise", limits: highLimits, scopes: [] });
    const authorization: Record<KeyKind, string | undefined> = {
      good: `Bearer ${good.text}`,
      narrow: `Bearer ${narrow.text}`,
      missing: undefined,
      unknown: `Bearer ${generateKeyText("production")}`,
      malformed: `Basic ${good.text}`,
    };
    const property = fc.asyncProperty(requests, async (request) => {
      const status = await send(service, request, authorization[request.key]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(expectedFor(request)).toContain(status);
    });
    await fc.assert(property, { numRuns: cases, seed });
    expect(service.logged.filter((line) => line.includes('"bug"'))).toEqual([]);
    // No command issues a key without scopes, so verify reports that one.
    const { faults } = await service.store.transfer.snapshot(verify);
    expect(faults.filter((fault) => !fault.startsWith(`key ${narrow.id}: scopes`))).toEqual([]);
  } finally {
    await service.stop();
  }
  return statuses;
}

const requests = fc.oneof(
  { arbitrary: anyRequest, weight: 12 },
  { arbitrary: feedRequest, weight: 1 },
);

async function send(
  service: TestService,
  request: FuzzedRequest,
  authorization: string | undefined,
): Promise<number> {
  const { method, path, body } = request;
  const headers = { ...request.headers, ...(authorization && { Authorization: authorization }) };
  const answer = await service.call(method, path, {
    headers,
    ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }),
  });
  return answer.status;
}

/** Returns the possible statuses: those of the request's faults, or success or 404 if it has none. */
function expectedFor(request: FuzzedRequest): readonly number[] {
  const { faults, possible, namesKnownPet, key, method } = request;
  if (method === "OPTIONS") return [404];
  if (faults.includes(401)) return [401];
  if (key === "narrow" && !faults.includes(404) && !faults.includes(405)) return [403];
  // A precondition is evaluated only if the request would succeed without it.
  const others = faults.filter((status) => status !== 412);
  if (others.length > 0) return others;
  // A request that repeats an earlier one gets its result before anything else is checked.
  const repeated = possible.includes(422) ? [200, 422] : [];
  if (faults.length > 0 && namesKnownPet) return [...faults, ...repeated];
  return [...(namesKnownPet ? [200] : [404]), ...possible, ...repeated];
}
