import { setTimeout as sleep } from "node:timers/promises";
import type { Watch } from "../../client/src/index.ts";
import { readClientVariables } from "../config.ts";
import { parseCursor } from "../domain/ledger/cursors.ts";
import type { Position } from "../domain/ledger/epochs.ts";
import type { NamedRow } from "../domain/ledger/ledger.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { randomId } from "../domain/values/base62.ts";
import { parseNetwork } from "../domain/values/networks.ts";
import { gatherMs } from "../domain/webhooks/deliveries.ts";
import {
  attemptOf,
  changesMax,
  headersOf,
  type Message,
  scanLedger,
  unpaced,
} from "../domain/webhooks/message.ts";
import { generateSecret, secretForm } from "../domain/webhooks/secrets.ts";
import { isConfirmed, type WebhookAttempt } from "../domain/webhooks/webhook.ts";
import { attemptJson } from "../domain/webhooks/webhook-json.ts";
import { print, printNote } from "../output.ts";
import { userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import { command, jsonLines } from "./command.ts";
import { parseInteger } from "./flags.ts";
import { untilSignal } from "./ledger.ts";
import { printRows } from "./table.ts";
import { attemptColumns } from "./webhook-rows.ts";

/**
 * Follows the feed of a service, and sends its changes to a developer's program with the code that sends
 * webhooks. Needs neither a webhook nor the store.
 */
export const listenCommand = command({
  name: "webhooks listen",
  summary:
    "Follows a service and sends its changes to a program of yours, as a webhook would. API_KEY in the environment is a key with the scope history:read.",
  examples: ["petstore webhooks listen --forward-to http://127.0.0.1:3000/hook"],
  flags: {
    "forward-to": {
      ...{ placeholder: "URL", required: true, field: "url" },
      description: "Address of your program. Private addresses and http are allowed.",
    },
    "base-url": {
      placeholder: "URL",
      description: "The service. Default: http://127.0.0.1:8080/v1.",
    },
    from: { placeholder: "SEQ", description: "First change to send. Default: the next one." },
    json: jsonLines,
  },
  settings: [],
  async run({ flags }) {
    const { apiKey = "", secret: given } = readClientVariables();
    const secret = given || generateSecret();
    const problem =
      (apiKey === "" && "API_KEY must be an API key") ||
      (!secretForm.test(secret) && "WEBHOOK_SECRET must be whsec_ and base64");
    if (problem) throw new ServiceError("invalid_request", `the variable ${problem}`);
    const { from, "forward-to": url, "base-url": baseUrl = "http://127.0.0.1:8080/v1" } = flags;
    const after = from === undefined ? undefined : parseInteger("--from", from, 1) - 1;
    const allowedNetworks = ["0.0.0.0/0", "::/0"].map((network) => parseNetwork(network)!);
    const sender = createWebhookSender({ allowInsecure: true, allowedNetworks });
    await sender.checkUrl(url);
    // Loaded here, because the other commands do not need it.
    const { PetstoreClient } = await import("../../client/src/client.ts");
    const client = new PetstoreClient({
      ...{ baseUrl, apiKey },
      hooks: {
        onResponse: ({ response: { status } }) => status === 200 && printNote("connected"),
        onRetry: ({ error }) => printNote(`${error.message}; the command keeps trying`),
      },
    });
    if (!given) print(flags.json ? JSON.stringify({ secret }) : `secret:  ${secret}`);
    const signal = untilSignal();
    const secrets = { current: secret, previous: null, previousExpiresAt: null };
    async function send(message: Message): Promise<WebhookAttempt | undefined> {
      const at = Date.now();
      const headers = headersOf(message, { secrets }, at, userAgent());
      const answer = await sender.send({ url, headers, body: message.body }, signal);
      return isConfirmed(answer) || !signal.aborted ? attemptOf(message, at, answer) : undefined;
    }
    const attempts = forward(client.watch({ signal, after }), send, signal);
    const toJson = (attempt: WebhookAttempt) => JSON.stringify(attemptJson(attempt));
    await printRows(attempts, { columns: attemptColumns, toJson }, flags.json);
  },
});

/** Sends every change once, and yields the attempts, until the signal is aborted. */
async function* forward(
  watch: Watch,
  send: (message: Message) => Promise<WebhookAttempt | undefined>,
  signal: AbortSignal,
): AsyncGenerator<readonly WebhookAttempt[]> {
  const filter = { pets: null, statuses: null, causes: null, below: null, becomesLow: false };
  const webhook = { id: randomId("wh_"), replays: 0, filter };
  const waiting: WaitingRow[] = [];
  const tail = {
    rowsAfter: (after: number) => waiting.filter(({ seq }) => seq > after),
    positionAt: (wanted: number) => waiting.find(({ seq }) => seq === wanted)!.position,
  };
  let failure: unknown;
  collect(watch, waiting).catch((error) => {
    failure = error;
  });
  // The titles of the table show that the command is running.
  yield [];
  while (failure === undefined) {
    const scan = { ...unpaced, tail, signal };
    const { message } = await scanLedger(scan, webhook, () => () => true, 0);
    const attempt = message && (await send(message));
    waiting.splice(0, message?.changes ?? 0);
    if (attempt) yield [attempt];
    else await sleep(gatherMs);
  }
  if (!signal.aborted) throw failure;
}

type WaitingRow = NamedRow & { readonly position: Position };

/** Reads changes, and waits while enough of them are waiting to be sent. */
async function collect(watch: Watch, waiting: WaitingRow[]): Promise<void> {
  for await (const event of watch) {
    if (event.type === "change") {
      const [position, at] = [parseCursor(event.cursor), Date.parse(event.change.at)];
      waiting.push({ ...event.change, previous: null, at, position } as WaitingRow);
    }
    // Changes of two histories may have the same numbers, so no message has both.
    while (waiting.length >= changesMax || (event.type === "reset" && waiting.length > 0)) {
      await sleep(gatherMs);
    }
  }
}
