import { setTimeout as sleep } from "node:timers/promises";
import type { Watch } from "../../client/src/index.ts";
import { readClientVariables } from "../config.ts";
import { parseCursor } from "../domain/ledger/cursors.ts";
import type { Position } from "../domain/ledger/epochs.ts";
import type { NamedRow } from "../domain/ledger/ledger.ts";
import { invalidRequest, type ServiceError } from "../domain/running/errors.ts";
import { randomId } from "../domain/values/base62.ts";
import { parseNetwork } from "../domain/values/networks.ts";
import { gatherMs } from "../domain/webhooks/deliveries.ts";
import { attemptOf, headersOf, scanLedger } from "../domain/webhooks/message.ts";
import { generateSecret, secretForm } from "../domain/webhooks/secrets.ts";
import type { WebhookAnswer } from "../domain/webhooks/sender.ts";
import { isConfirmed, type WebhookAttempt } from "../domain/webhooks/webhook.ts";
import { attemptJson } from "../domain/webhooks/webhook-json.ts";
import { print, printNote } from "../output.ts";
import { userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import { command, jsonLines } from "./command.ts";
import { parseInteger } from "./flags.ts";
import { untilSignal } from "./follow.ts";
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
      (apiKey === "" && "API_KEY must be an API key with the scope history:read") ||
      (!secretForm.test(secret) && "WEBHOOK_SECRET must be whsec_ and base64");
    if (problem) throw invalidRequest(`the variable ${problem}`);
    const { from, "forward-to": url, "base-url": baseUrl = "http://127.0.0.1:8080/v1" } = flags;
    const after = from === undefined ? undefined : parseInteger("--from", from, 1) - 1;
    const webhooksAllowedNetworks = ["0.0.0.0/0", "::/0"].map((one) => parseNetwork(one)!);
    const sender = createWebhookSender({ webhooksAllowInsecure: true, webhooksAllowedNetworks });
    await sender.checkUrl(url);
    // Loaded here, because the other commands do not need it.
    const { PetstoreClient } = await import("../../client/src/client.ts");
    let said = "";
    // A service that is down for long is reported once.
    const say = (note: string) => {
      if (note !== said) printNote(note);
      said = note;
    };
    const client = new PetstoreClient({
      ...{ baseUrl, apiKey },
      hooks: {
        onResponse: ({ response: { status } }) => status === 200 && say("connected"),
        onRetry: ({ error }) => say(`keeps trying ${baseUrl}: ${error.message}`),
      },
    });
    if (!given) print(flags.json ? JSON.stringify({ secret }) : `secret:  ${secret}`);
    const signal = untilSignal();
    const send = (headers: Record<string, string>, body: string) =>
      sender.send({ url, headers, body }, signal);
    const attempts = forward(client.watch({ signal, after }), secret, send, signal);
    const toJson = (attempt: WebhookAttempt) => JSON.stringify(attemptJson(attempt));
    await printRows(attempts, { columns: attemptColumns, toJson }, flags.json);
  },
});

/** Sends every change once, and yields the attempts, until the signal is aborted. */
async function* forward(
  watch: Watch,
  secret: string,
  send: (headers: Record<string, string>, body: string) => Promise<WebhookAnswer>,
  signal: AbortSignal,
): AsyncGenerator<readonly WebhookAttempt[]> {
  const filter = { pets: null, statuses: null, causes: null, below: null, becomesLow: false };
  const secrets = { current: secret, previous: null, previousExpiresAt: null };
  const webhook = { id: randomId("wh_"), replays: 0, filter, secrets };
  const waiting: WaitingRow[] = [];
  const tail = {
    rowsAfter: (after: number) => waiting.filter(({ seq }) => seq > after),
    positionAt: (wanted: number) => waiting.find(({ seq }) => seq === wanted)!.position,
  };
  let failure: ServiceError | undefined;
  collect(watch, waiting).catch(({ message }: Error) => {
    failure = invalidRequest(`cannot follow the service: ${message}`);
  });
  try {
    while (failure === undefined && !signal.aborted) {
      await sleep(gatherMs);
      const { message } = await scanLedger({ tail, signal }, webhook, () => () => true, 0);
      if (!message) continue;
      const at = Date.now();
      const answer = await send(headersOf(message, webhook, at, userAgent()), message.body);
      waiting.splice(0, message.changes);
      if (isConfirmed(answer) || !signal.aborted) yield [attemptOf(message, at, answer)];
    }
  } finally {
    // Also if the reader of a pipe, such as `head`, has stopped reading.
    waiting.length = 0;
    await watch.return();
  }
  if (!signal.aborted) throw failure;
}

/** As many changes as a message can have. */
const waitingMax = 100;
type WaitingRow = NamedRow & { readonly position: Position };

/** Reads changes, and waits while enough of them are waiting to be sent. */
async function collect(watch: Watch, waiting: WaitingRow[]): Promise<void> {
  for await (const event of watch) {
    if (event.type === "change") {
      const [position, at] = [parseCursor(event.cursor), Date.parse(event.change.at)];
      waiting.push({ ...event.change, previous: null, at, position } as WaitingRow);
    }
    // Changes of two histories may have the same numbers, so no message has both.
    while (waiting.length >= waitingMax || (event.type === "reset" && waiting.length > 0)) {
      await sleep(gatherMs);
    }
  }
}
