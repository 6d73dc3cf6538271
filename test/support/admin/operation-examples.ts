import type { ErrorCode } from "../../../src/domain/running/errors.ts";
import type { AdminOperationId } from "../../../src/http/admin/operations.ts";
import type { Example } from "../operation-examples.ts";
import type { TestService } from "../service.ts";
import { fileExamples } from "./file-examples.ts";
import { issueOperator, signIn } from "./operators.ts";
import { stockExamples } from "./stock-examples.ts";
import { webhookExamples } from "./webhook-examples.ts";

/**
 * Requests to one operation of the operator API. test/admin/operations.test.ts sends them to a service
 * with the pets 1 and 2.
 */
export interface AdminExamples {
  /** Succeeds with 2xx, and more than once. */
  readonly good: Example;
  /** Fail with these codes. */
  readonly bad: readonly (Example & { readonly code: ErrorCode })[];
  /**
   * Called before a request that succeeds. Makes what the request needs, such as a new key. In path and
   * body, `{name}` is then replaced by the value with this name.
   */
  readonly prepare?: (service: TestService) => Promise<Readonly<Record<string, string>>>;
}

/** By operation id. An operation without examples does not compile. */
export const operationExamples: Readonly<Record<string, AdminExamples>> = {
  startSession: { good: { path: "/session" }, bad: [] },
  getSession: { good: { path: "/session" }, bad: [] },
  endSession: {
    good: { path: "/session", headers: { Cookie: "{cookie}" } },
    bad: [],
    prepare: aSession,
  },
  ...fileExamples,
  ...webhookExamples,
  ...stockExamples,
  listBackups: { good: { path: "/backups" }, bad: [] },
  makeBackup: { good: { path: "/backups" }, bad: [] },
  listKeys: { good: { path: "/keys" }, bad: [] },
  createKey: {
    good: { path: "/keys", body: '{"name":"Till","plan":"pro"}' },
    bad: [
      { path: "/keys", code: "invalid_request" },
      { path: "/keys", body: "[]", code: "invalid_request" },
      { path: "/keys", body: "{", code: "invalid_request" },
      { path: "/keys", body: '{"name":"Till"}', code: "invalid_request" },
      { path: "/keys", body: '{"name":"Till","plan":"gold"}', code: "invalid_request" },
      { path: "/keys", body: '{"plan":"pro"}', code: "invalid_request" },
      { path: "/keys", body: '{"name":"a\\nb","plan":"pro"}', code: "invalid_request" },
      { path: "/keys", body: " ".repeat(65_537), code: "payload_too_large" },
      {
        path: "/keys",
        body: '{"name":"Till","plan":"pro"}',
        headers: { "Content-Type": "text/plain" },
        code: "unsupported_media_type",
      },
    ],
  },
  getKey: {
    good: { path: "/keys/{keyId}" },
    bad: [
      { path: "/keys/key_0", code: "not_found" },
      { path: "/keys/%00", code: "not_found" },
    ],
    prepare: aKey,
  },
  changeKey: {
    good: { path: "/keys/{keyId}", body: '{"plan":"free"}' },
    bad: [
      { path: "/keys/key_0", body: "{}", code: "not_found" },
      { path: "/keys/{keyId}", code: "invalid_request" },
      { path: "/keys/{keyId}", body: '{"perDay":5}', code: "invalid_request" },
      { path: "/keys/{keyId}", body: '{"expiresAt":5}', code: "invalid_request" },
      { path: "/keys/{keyId}", body: " ".repeat(65_537), code: "payload_too_large" },
      {
        path: "/keys/{keyId}",
        body: "{}",
        headers: { "Content-Type": "text/plain" },
        code: "unsupported_media_type",
      },
    ],
    prepare: aKey,
  },
  rotateKey: {
    good: { path: "/keys/{keyId}/rotate" },
    bad: [
      { path: "/keys/key_0/rotate", code: "not_found" },
      { path: "/keys/{keyId}/rotate", body: '{"overlapSeconds":-1}', code: "invalid_request" },
      { path: "/keys/{keyId}/rotate", body: "5", code: "invalid_request" },
      { path: "/keys/{keyId}/rotate", body: " ".repeat(65_537), code: "payload_too_large" },
    ],
    prepare: aKey,
  },
  revokeKey: {
    good: { path: "/keys/{keyId}/revoke" },
    bad: [{ path: "/keys/key_0/revoke", code: "not_found" }],
    prepare: aKey,
  },
  liftBan: {
    good: { path: "/keys/{keyId}/unban" },
    bad: [{ path: "/keys/key_0/unban", code: "not_found" }],
    prepare: aBannedKey,
  },
  listRequests: {
    good: { path: "/requests?key=none&code=unauthorized" },
    bad: [
      { path: "/requests?key=mine", code: "invalid_request" },
      { path: "/requests?code=oops", code: "invalid_request" },
      { path: "/requests?limit=0", code: "invalid_request" },
      { path: "/requests?before=x", code: "invalid_request" },
    ],
  },
  getRequest: {
    good: { path: "/requests/req_5f0c1e9a2b7d_42" },
    bad: [{ path: "/requests/%00", code: "invalid_request" }],
  },
  listAudit: {
    good: { path: "/audit" },
    bad: [
      { path: "/audit?limit=0", code: "invalid_request" },
      { path: "/audit?before=x", code: "invalid_request" },
      { path: "/audit?action=theft", code: "invalid_request" },
      { path: "/audit?keyId=mine", code: "invalid_request" },
      { path: "/audit?target=%00", code: "invalid_request" },
      { path: "/audit?limit=1&limit=2", code: "invalid_request" },
    ],
  },
  getService: { good: { path: "/service" }, bad: [] },
} satisfies Record<AdminOperationId, AdminExamples>;

/** Makes what the requests to an operation need. Returns a function that fills in their values. */
export async function prepareExamples(
  service: TestService,
  id: string,
): Promise<(example: Example) => Example> {
  const values = (await operationExamples[id]!.prepare?.(service)) ?? {};
  const fill = (text: string) =>
    Object.entries(values).reduce((so, [name, value]) => so.replaceAll(`{${name}}`, value), text);
  return ({ path, body, headers }) => ({
    path: fill(path),
    ...(body === undefined ? {} : { body: fill(body) }),
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, fill(value)]),
      ),
    }),
  });
}

/** A new API key, as `{keyId}`. */
async function aKey(service: TestService) {
  return { keyId: (await service.issueKey()).id };
}

/** A new API key that is banned, as `{keyId}`. */
async function aBannedKey(service: TestService) {
  const { keyId } = await aKey(service);
  const startedAt = service.clock.now();
  const ban = { keyId, startedAt, until: startedAt + 60_000, liftedAt: null };
  await service.store.usage.saveBan(ban);
  return { keyId };
}

/** The cookie of a new session, as `{cookie}`. */
async function aSession(service: TestService) {
  return { cookie: await signIn(service, (await issueOperator(service)).text) };
}
