import { hash } from "node:crypto";
import { byCommand } from "../../../src/domain/audit/audit.ts";
import { formatCursor } from "../../../src/domain/ledger/cursors.ts";
import { positionOf } from "../../../src/domain/ledger/epochs.ts";
import { createWebhook, pauseWebhook } from "../../../src/domain/webhooks/lifecycle.ts";
import { anEntry } from "../audit.ts";
import type { TestService } from "../service.ts";
import type { AdminExamples } from "./operation-examples.ts";

async function makeActiveWebhook({ store, clock }: TestService): Promise<{ webhook: string }> {
  const terms = { url: "https://127.0.0.1:65535/" };
  const sender = { checkUrl: async () => true };
  const { webhook } = await createWebhook(store, sender, terms, byCommand(clock.now()));
  return { webhook: webhook.id };
}

/** Makes a webhook that nothing is sent to. */
async function makeWebhook(service: TestService): Promise<{ webhook: string }> {
  const { webhook } = await makeActiveWebhook(service);
  await pauseWebhook(service.store, webhook, byCommand(service.clock.now()));
  return { webhook };
}

/** Makes one whose log has a message with the first change. */
async function makeSentMessage(service: TestService) {
  const { webhook } = await makeWebhook(service);
  const { store, clock } = service;
  const cursor = formatCursor(positionOf(await store.inventory.listEpochs(), 1)!);
  const message = `msg_${hash("sha256", [webhook, 0, cursor, cursor].join(" ")).slice(0, 32)}`;
  const attempt = {
    ...{ at: clock.now(), messageId: message, firstSeq: 1, lastSeq: 1, changes: 1, durationMs: 1 },
    ...{ status: 204, error: null, answer: "" },
  };
  await store.webhooks.addAttempt(webhook, attempt, anEntry);
  return { webhook, message };
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

export const webhookExamples = {
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
  pauseWebhook: { ...webhookExample("/pause"), prepare: makeActiveWebhook },
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
  testWebhook: webhookExample("/test"),
  resendWebhookMessage: {
    ...webhookExample("/messages/{message}/resend"),
    prepare: makeSentMessage,
  },
} satisfies Record<string, AdminExamples>;
