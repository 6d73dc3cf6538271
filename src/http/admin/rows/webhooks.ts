import { jsonTypes } from "../../messages/body.ts";
import * as contract from "../contract/webhooks.ts";
import type { AdminRow, AdminSettings } from "../operation.ts";
import {
  createWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  removeWebhook,
  replayWebhook,
  resumeWebhook,
  rotateWebhookSecret,
} from "../webhooks.ts";

export function webhookRows({ bodyBytesMax }: AdminSettings): readonly AdminRow[] {
  const body = { mediaTypes: jsonTypes, bytesMax: bodyBytesMax };
  return [
    {
      id: "listWebhooks",
      method: "GET",
      path: "/webhooks",
      contract: contract.listWebhooks,
      handle: listWebhooks,
    },
    {
      id: "createWebhook",
      method: "POST",
      path: "/webhooks",
      body,
      contract: contract.createWebhook,
      handle: createWebhook,
    },
    {
      id: "getWebhook",
      method: "GET",
      path: "/webhooks/{webhookId}",
      contract: contract.getWebhook,
      handle: getWebhook,
    },
    {
      id: "removeWebhook",
      method: "DELETE",
      path: "/webhooks/{webhookId}",
      contract: contract.removeWebhook,
      handle: removeWebhook,
    },
    {
      id: "pauseWebhook",
      method: "POST",
      path: "/webhooks/{webhookId}/pause",
      contract: contract.pauseWebhook,
      handle: pauseWebhook,
    },
    {
      id: "resumeWebhook",
      method: "POST",
      path: "/webhooks/{webhookId}/resume",
      contract: contract.resumeWebhook,
      handle: resumeWebhook,
    },
    {
      id: "replayWebhook",
      method: "POST",
      path: "/webhooks/{webhookId}/replay",
      body,
      contract: contract.replayWebhook,
      handle: replayWebhook,
    },
    {
      id: "rotateWebhookSecret",
      method: "POST",
      path: "/webhooks/{webhookId}/rotate",
      body,
      contract: contract.rotateWebhookSecret,
      handle: rotateWebhookSecret,
    },
  ];
}
