import type { ErrorCode } from "../../src/domain/running/errors.ts";
import type { ApiOperationId } from "../../src/http/api/operations.ts";

/** A valid request of an operation, and invalid ones, by operation id. */
export interface Examples {
  readonly good: Example;
  readonly bad: readonly (Example & { readonly code: ErrorCode })[];
}

export interface Example {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** The same object with its first field twice; undefined if it has no field. */
export function repeating(body = ""): string | undefined {
  const name = /^\s*\{\s*("[^"]*")/.exec(body)?.[1];
  return name && `{${name}:null,${body.slice(body.indexOf("{") + 1)}`;
}

const feed = { Accept: "text/event-stream" };
const good = '{"quantity":4}';
const changes = (change: string) => `{"changes":[${change}]}`;

/** An operation without examples does not compile. */
export const operationExamples: Readonly<Record<string, Examples>> = {
  // It has no invalid request, because it has no parameter and no body.
  listInventory: { good: { path: "/inventory" }, bad: [] },
  getInventory: {
    good: { path: "/inventory/1" },
    bad: [
      { path: "/inventory/one", code: "invalid_request" },
      { path: "/inventory/404", code: "not_found" },
      { path: "/inventory/1", headers: { "If-Match": '"x"' }, code: "precondition_failed" },
    ],
  },
  updateInventory: {
    good: { path: "/inventory/1", body: good },
    bad: [
      { path: "/inventory/one", body: good, code: "invalid_request" },
      { path: "/inventory/01", body: good, code: "invalid_request" },
      { path: "/inventory/9223372036854775808", body: good, code: "invalid_request" },
      { path: "/inventory/404", body: good, code: "not_found" },
      { path: "/inventory/1", code: "invalid_request" },
      { path: "/inventory/1", body: "{}", code: "invalid_request" },
      { path: "/inventory/1", body: '{"quantity":-1}', code: "invalid_request" },
      { path: "/inventory/1", body: '{"quantity":', code: "invalid_request" },
      { path: "/inventory/1", body: " ".repeat(65_537), code: "payload_too_large" },
      {
        path: "/inventory/1",
        body: good,
        headers: { "Content-Type": "text/plain" },
        code: "unsupported_media_type",
      },
      {
        path: "/inventory/1",
        body: good,
        headers: { "If-Match": '"x"' },
        code: "precondition_failed",
      },
      {
        path: "/inventory/1",
        body: good,
        headers: { "Idempotency-Key": '"' },
        code: "invalid_request",
      },
    ],
  },
  applyChanges: {
    good: { path: "/changes", body: changes('{"petId":1,"delta":1}') },
    bad: [
      { path: "/changes", code: "invalid_request" },
      { path: "/changes", body: changes(""), code: "invalid_request" },
      { path: "/changes", body: changes('{"petId":1}'), code: "invalid_request" },
      { path: "/changes", body: '{"changes":[],"dryRun":1}', code: "invalid_request" },
      {
        path: "/changes",
        body: changes('{"petId":1,"delta":1,"expectedversion":1}'),
        code: "invalid_request",
      },
      { path: "/changes", body: changes('{"petId":404,"delta":1}'), code: "not_found" },
      { path: "/changes", body: changes('{"petId":2,"delta":-1}'), code: "insufficient_stock" },
      {
        path: "/changes",
        body: changes('{"petId":1,"delta":1,"expectedVersion":99999}'),
        code: "version_conflict",
      },
      { path: "/changes", body: " ".repeat(262_145), code: "payload_too_large" },
      {
        path: "/changes",
        body: changes('{"petId":1,"delta":1}'),
        headers: { "Content-Type": "application/merge-patch+json" },
        code: "unsupported_media_type",
      },
    ],
  },
  listHistory: {
    good: { path: "/inventory/1/history" },
    bad: [
      { path: "/inventory/one/history", code: "invalid_request" },
      { path: "/inventory/1/history?before=x", code: "invalid_request" },
      { path: "/inventory/1/history?until=2026-02-30", code: "invalid_request" },
      { path: "/inventory/404/history", code: "not_found" },
    ],
  },
  listChanges: {
    good: { path: "/changes" },
    bad: [
      { path: "/changes?limit=1001", code: "invalid_request" },
      { path: "/changes?after=9007199254740992", code: "invalid_request" },
      { path: "/changes?after=1&after=2", code: "invalid_request" },
      { path: "/changes?cause=theft", code: "invalid_request" },
      { path: "/changes?key=mine", code: "invalid_request" },
      { path: "/changes?after=x", headers: feed, code: "invalid_request" },
      { path: "/changes?limit=5", headers: feed, code: "invalid_request" },
      {
        path: "/changes",
        headers: { ...feed, "Last-Event-ID": "x" },
        code: "invalid_request",
      },
    ],
  },
  getLedgerHead: {
    good: { path: "/changes/head" },
    bad: [{ path: "/changes/head?seq=1", code: "invalid_request" }],
  },
  getRequest: {
    good: { path: "/requests/req_5f0c1e9a2b7d_42" },
    bad: [
      { path: "/requests/42", code: "invalid_request" },
      { path: "/requests/req_5f0c1e9a2b7d_42?key=mine", code: "invalid_request" },
    ],
  },
  getPet: {
    good: { path: "/pets/1" },
    bad: [
      { path: "/pets/+1", code: "invalid_request" },
      { path: "/pets/404", code: "not_found" },
    ],
  },
  listOrders: {
    good: { path: "/store/orders" },
    bad: [
      { path: "/store/orders?limit=0", code: "invalid_request" },
      { path: "/store/orders?limit=1001", code: "invalid_request" },
      { path: "/store/orders?limit=1&limit=2", code: "invalid_request" },
      { path: "/store/orders?after=x", code: "invalid_request" },
    ],
  },
  getSnapshot: {
    good: { path: "/snapshots/1" },
    bad: [
      { path: "/snapshots/now", code: "invalid_request" },
      { path: "/snapshots/9999-01-01", code: "invalid_request" },
      { path: "/snapshots/9999", code: "not_found" },
    ],
  },
  getDiff: {
    good: { path: "/snapshots/1/diff?to=2" },
    bad: [
      { path: "/snapshots/1/diff", code: "invalid_request" },
      { path: "/snapshots/1/diff?to=now", code: "invalid_request" },
      { path: "/snapshots/1/diff?to=1&to=2", code: "invalid_request" },
      { path: "/snapshots/1/diff?to=9999", code: "not_found" },
    ],
  },
} satisfies Record<ApiOperationId, Examples>;
