import { commandLine } from "../../../src/domain/audit.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { createWebhook, pauseWebhook } from "../../../src/domain/webhooks/lifecycle.ts";
import type { Example } from "../operation-examples.ts";
import type { TestService } from "../service.ts";

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
   * Called before each request. Makes what the request needs, such as a new key. In path and body,
   * `{name}` is then replaced by the value with this name.
   */
  readonly prepare?: (service: TestService) => Promise<Readonly<Record<string, string>>>;
}

const importExamples = (what: "pets" | "orders", file: string): AdminExamples => ({
  good: { path: `/${what}/import?format=csv`, body: file },
  bad: [
    { path: `/${what}/import`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=xlsx`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&format=csv`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&dryRun=1`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&name=`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&name=a%00b`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=json`, body: file, code: "invalid_request" },
    {
      path: `/${what}/import?format=csv`,
      body: file,
      headers: { "Content-Encoding": "gzip" },
      code: "unsupported_media_type",
    },
  ],
});

const exportExamples = (what: "pets" | "orders"): AdminExamples => ({
  good: { path: `/${what}/export?format=csv` },
  bad: [
    { path: `/${what}/export`, code: "invalid_request" },
    { path: `/${what}/export?format=CSV`, code: "invalid_request" },
  ],
});

const fileExamples: Readonly<Record<string, AdminExamples>> = {
  importPets: importExamples("pets", "petId,quantity\n1,4\n"),
  exportPets: exportExamples("pets"),
  importOrders: importExamples("orders", "id,petId,quantity,status\n1,1,1,placed\n"),
  exportOrders: exportExamples("orders"),
  listOrders: {
    good: { path: "/orders?limit=1" },
    bad: [{ path: "/orders?limit=0", code: "invalid_request" }],
  },
};

/** Makes a webhook that nothing is sent to. */
async function makeWebhook({ store, clock }: TestService): Promise<{ webhook: string }> {
  const terms = { url: "https://127.0.0.1:65535/" };
  const sender = { checkUrl: async () => true };
  const { webhook } = await createWebhook(store, sender, clock.now(), terms, commandLine);
  await pauseWebhook(store, clock.now(), webhook.id, commandLine);
  return { webhook: webhook.id };
}

/** An operation on one webhook. */
const webhookExample = (
  path: string,
  body?: string,
  bad: AdminExamples["bad"] = [],
): AdminExamples => ({
  good: { path: `/webhooks/{webhook}${path}`, ...(body === undefined ? {} : { body }) },
  bad: [
    { path: `/webhooks/wh_0${path}`, ...(body === undefined ? {} : { body }), code: "not_found" },
    { path: `/webhooks/%00${path}`, ...(body === undefined ? {} : { body }), code: "not_found" },
    ...bad.map((one) => ({ ...one, path: `/webhooks/{webhook}${path}` })),
  ],
  prepare: makeWebhook,
});

const invalid = (body: string) => ({ path: "", body, code: "invalid_request" }) as const;

const webhookExamples: Readonly<Record<string, AdminExamples>> = {
  listWebhooks: { good: { path: "/webhooks" }, bad: [] },
  createWebhook: {
    good: {
      path: "/webhooks",
      body: '{"url":"https://127.0.0.1:65535/","pets":[9007199254740993]}',
    },
    bad: [
      '{"name":"x"}',
      '{"url":5}',
      '{"url":"http://shop.example/"}',
      '{"url":"https://10.0.0.1/"}',
      '{"url":"https://127.0.0.1:65535/","pets":[1.5]}',
      '{"url":"https://127.0.0.1:65535/","pets":["huge"]}',
      '{"url":"https://127.0.0.1:65535/","pets":[9223372036854775808]}',
      '{"url":"https://127.0.0.1:65535/","statuses":["gone"]}',
      '{"url":"https://127.0.0.1:65535/","below":0}',
      '{"url":"https://127.0.0.1:65535/","from":999}',
      '{"url":"https://127.0.0.1:65535/","name":"a\\nb"}',
      "[]",
      "",
    ].map((body) => ({ ...invalid(body), path: "/webhooks" })),
  },
  getWebhook: webhookExample(""),
  removeWebhook: webhookExample(""),
  pauseWebhook: webhookExample("/pause"),
  resumeWebhook: webhookExample("/resume"),
  replayWebhook: webhookExample("/replay", '{"from":1}', [
    invalid("{}"),
    invalid('{"from":0}'),
    invalid('{"from":"1"}'),
    invalid('{"from":1e300}'),
  ]),
  rotateWebhookSecret: webhookExample("/rotate", '{"overlapSeconds":60}', [
    invalid('{"overlapSeconds":-1}'),
    invalid('{"overlapSeconds":31536001}'),
    invalid('{"overlapSeconds":0.5}'),
  ]),
};

/** By operation id. */
export const operationExamples: Readonly<Record<string, AdminExamples>> = {
  startSession: { good: { path: "/session" }, bad: [] },
  getSession: { good: { path: "/session" }, bad: [] },
  endSession: { good: { path: "/session" }, bad: [] },
  ...fileExamples,
  ...webhookExamples,
  listBackups: { good: { path: "/backups" }, bad: [] },
  makeBackup: { good: { path: "/backups" }, bad: [] },
};
