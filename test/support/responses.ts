import { expect } from "bun:test";
import type { ErrorCode } from "../../src/domain/running/errors.ts";
import type { Store } from "../../src/domain/store.ts";
import type { DocumentedOperation } from "../../src/http/api/contract/description.ts";
import { statusOf } from "../../src/http/messages/errors.ts";
import type { TestResponse } from "./service.ts";

/** The headers of every response under the base address. */
export function expectCommonHeaders(answer: Pick<TestResponse, "headers">): void {
  const { limit, remaining, reset } = limitsOf(answer);
  expect(limit).toBeGreaterThan(0);
  expect(remaining).toBeGreaterThanOrEqual(0);
  expect(remaining).toBeLessThanOrEqual(limit);
  expect(reset).toBeGreaterThan(1_500_000_000);
  expect(answer.headers.get("X-Request-Id")).toMatch(/^req_[0-9a-z_]{13,}$/);
}

/** The three rate limit headers as numbers. Each must consist of plain digits. */
export function limitsOf(answer: Pick<TestResponse, "headers">) {
  const read = (name: string): number => {
    const text = answer.headers.get(name);
    expect(`${name}: ${text}`).toMatch(/: (0|[1-9][0-9]*)$/);
    return Number(text);
  };
  return {
    limit: read("X-RateLimit-Limit"),
    remaining: read("X-RateLimit-Remaining"),
    reset: read("X-RateLimit-Reset"),
  };
}

/**
 * An error as the specification defines it: three fields, with the status of the response. That of a batch
 * also names lines.
 */
export function expectError(answer: TestResponse, code: ErrorCode, lines = 0): void {
  expect(`${answer.status} ${answer.text}`).toStartWith(`${statusOf[code]} {`);
  const body = answer.json as Record<string, unknown>;
  const { details, ...error } = body;
  expect(Object.keys(error)).toEqual(["code", "message", "status"]);
  expect((details as unknown[] | undefined)?.length ?? 0).toBe(lines);
  expect("details" in body).toBe(lines > 0);
  expect(body.code).toBe(code);
  expect(body.status).toBe(answer.status);
  expect(typeof body.message === "string" && body.message.length > 0).toBe(true);
  expect(answer.headers.get("Content-Type")).toBe("application/json");
  expectCommonHeaders(answer);
}

/** The lines that the error of an operation names when one is at fault, as its contract says. */
export function linesOf({ contract }: DocumentedOperation, code: ErrorCode): number {
  return Object.entries(contract.details ?? {}).find(([one]) => one === code)?.[1].length ?? 0;
}

/** The content of the store, to compare before and after. */
async function stateOf(store: Store) {
  return store.transfer.snapshot(async (reader) => {
    const { epoch, seq } = await reader.readHead();
    return {
      epoch,
      seq,
      ledger: await reader.ledgerAfter(0, 100_000),
      entries: await reader.entriesAfter(null, 100_000),
      pets: await reader.petsAfter(null, 100_000),
      orders: await reader.listOrders({ after: null, limit: 100_000 }),
    };
  });
}

/** Runs `work` and asserts that it did not change the content of the store. */
export async function expectUnchanged<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const before = await stateOf(store);
  const result = await work();
  expect(await stateOf(store)).toEqual(before);
  return result;
}
