import { setTimeout as sleep } from "node:timers/promises";
import type { Hooks, Watch, WatchChange } from "../../client/src/index.ts";
import { readClientVariables } from "../config.ts";
import { parseCursor } from "../domain/ledger/cursors.ts";
import type { Position } from "../domain/ledger/epochs.ts";
import type { NamedRow } from "../domain/ledger/ledger.ts";
import { monotonicMs, yieldToEventLoop } from "../domain/running/background.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { randomId } from "../domain/values/base62.ts";
import { parseNetwork } from "../domain/values/networks.ts";
import { gatherMs } from "../domain/webhooks/deliveries.ts";
import { attemptOf, changesMax, headersOf, scanLedger } from "../domain/webhooks/message.ts";
import { generateSecret, secretForm } from "../domain/webhooks/secrets.ts";
import type { WebhookSender } from "../domain/webhooks/sender.ts";
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
 * webhooks. Needs neither a webhook nor the store. The key and the secret are variables, because other
 * users of the machine can read the flags of a process.
 */
export const listenCommand = command({
  name: "webhooks listen",
  summary:
    "Follows a service and sends its changes to a program of yours, as a webhook would. The variable API_KEY has a key with the scope history:read.",
  examples: ["petstore webhooks listen --forward-to http://127.0.0.1:3000/hook"],
  flags: {
    "forward-to": {
      placeholder: "URL",
      required: true,
      field: "url",
      description: "Address of your program. All hosts are allowed, and so is http.",
    },
    "base-url": {
      placeholder: "URL",
      description:
        "Base URL of the service, ending in /v1. Default: the variable BASE_URL, or http://127.0.0.1:8080/v1.",
    },
    from: {
      placeholder: "SEQ",
      description: "Ledger row of the first change to send. Default: the next change.",
    },
    json: jsonLines,
  },
  settings: [],
  async run({ flags }) {
    const variables = readClientVariables();
    const { apiKey, secret = generateSecret() } = variables;
    if (apiKey === undefined) {
      throw new ServiceError("invalid_request", "set the variable API_KEY to an API key");
    }
    if (!secretForm.test(secret)) {
      throw new ServiceError("invalid_request", "WEBHOOK_SECRET must be whsec_ and base64");
    }
    const from = flags.from === undefined ? undefined : parseInteger("--from", flags.from, 1);
    const allowedNetworks = ["0.0.0.0/0", "::/0"].map((network) => parseNetwork(network)!);
    const sender = createWebhookSender({ allowInsecure: true, allowedNetworks });
    const url = flags["forward-to"];
    await sender.checkUrl(url);
    // Loaded here, because the other commands do not need it.
    const { PetstoreClient } = await import("../../client/src/client.ts");
    const baseUrl = flags["base-url"] ?? variables.baseUrl ?? "http://127.0.0.1:8080/v1";
    const client = new PetstoreClient({ baseUrl, apiKey, hooks });
    if (variables.secret === undefined) {
      print(flags.json ? JSON.stringify({ secret }) : `secret:  ${secret}`);
    }
    const signal = untilSignal();
    const watch = client.watch({ signal, after: from && from - 1 });
    const attempts = forward(watch, sender, url, secret, signal);
    const toJson = (attempt: WebhookAttempt) => JSON.stringify(attemptJson(attempt));
    await printRows(attempts, { columns: attemptColumns, toJson }, flags.json);
  },
});

const hooks: Hooks = {
  onResponse: ({ response }) => {
    if (response.status === 200) printNote("connected to the service");
  },
  onRetry: ({ error }) => printNote(`${error.message}; the command keeps trying`),
};

/** Sends every change once, and yields each attempt, until the signal is aborted. */
async function* forward(
  watch: Watch,
  sender: Pick<WebhookSender, "send">,
  url: string,
  secret: string,
  signal: AbortSignal,
): AsyncGenerator<readonly WebhookAttempt[]> {
  const webhook = {
    ...{ id: randomId("wh_"), replays: 0 },
    filter: { pets: null, statuses: null, causes: null, below: null, becomesLow: false },
    secrets: { current: secret, previous: null, previousExpiresAt: null },
  };
  // The titles of the table show that the command is running.
  yield [];
  try {
    for await (const changes of gathered(watch)) {
      const tail = tailOf(changes);
      const pacer = { turn: yieldToEventLoop, spend: () => false };
      const parts = { tail, pacer, monotonicMs, signal };
      let after = changes[0]!.change.seq - 1;
      for (;;) {
        const { message, upTo } = await scanLedger(parts, webhook, () => () => true, after);
        if (!message) break;
        after = upTo;
        const at = Date.now();
        const headers = headersOf(message, webhook, at, userAgent());
        const answer = await sender.send({ url, headers, body: message.body }, signal);
        if (!isConfirmed(answer) && signal.aborted) return;
        yield [attemptOf(message, at, answer)];
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Yields changes as the service gathers them: a burst becomes one message. Reads no further meanwhile. */
async function* gathered(watch: Watch): AsyncGenerator<readonly WatchChange[], never> {
  const read = () => {
    const next = watch.next();
    // It may fail while a message is sent. The loop below gets the error.
    next.catch(() => {});
    return next;
  };
  let next = read();
  for (;;) {
    const changes: WatchChange[] = [];
    let late: Promise<undefined> | undefined;
    while (changes.length < changesMax) {
      const result = await (late ? Promise.race([next, late]) : next);
      if (result === undefined) break;
      next = read();
      const event: WatchChange | { type: "start" | "reset"; seq: number } = result.value;
      if (event.type === "change") {
        changes.push(event);
        late ??= sleep(gatherMs, undefined);
      } else if (event.type === "reset") {
        printNote(`the service has another history, and continues after change ${event.seq}`);
        if (changes.length > 0) break;
      }
    }
    yield changes;
  }
}

/** The rows of these changes as the tail of a ledger. */
function tailOf(changes: readonly WatchChange[]) {
  const rows = changes.map(
    ({ change }) => ({ ...change, previous: null, at: Date.parse(change.at) }) as NamedRow,
  );
  const cursors = new Map(changes.map(({ change, cursor }) => [change.seq, cursor]));
  return {
    rowsAfter: (after: number) => rows.filter(({ seq }) => seq > after),
    positionAt: (seq: number) => parseCursor(cursors.get(seq)!) as Position,
  };
}
