import { expect } from "bun:test";
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { parseNetwork } from "../../src/domain/values/networks.ts";
import { createWebhookSender, type WebhookSenderOptions } from "../../src/webhooks/sender.ts";
import { startListener } from "./listeners.ts";
import { until } from "./until.ts";

/** The time for senders in tests. */
const now = Date.parse("2026-11-15T12:00:00Z");

/** A sender that may use loopback. */
export function createSender(options: Partial<WebhookSenderOptions> = {}) {
  return createWebhookSender({
    webhooksAllowInsecure: true,
    webhooksAllowedNetworks: [parseNetwork("127.0.0.0/8")!],
    timeoutMs: 600_000,
    now: () => now,
    ...options,
  });
}

/** Sends one request to a receiver that answers like this, and checks that nothing of it is left. */
export async function attempt(
  answer: (socket: Socket) => void,
  options?: Partial<WebhookSenderOptions>,
) {
  const receiver = await startListener("127.0.0.1", answer);
  const request = { url: `http://${receiver.authority}/`, headers: {}, body: "{}" };
  const { signal } = new AbortController();
  try {
    const result = await createSender(options).send(request, signal);
    expect(receiver.connections).toBe(1);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await until(() => receiver.open === 0, 5_000, "the end of the connection");
    return result;
  } finally {
    await receiver.close();
  }
}
