import { commandLine } from "../command-lines.ts";
import { byCommand } from "../domain/audit/audit.ts";
import { petStatuses } from "../domain/ledger/inventory.ts";
import { causes } from "../domain/ledger/ledger.ts";
import { conditionOf } from "../domain/operations/attention.ts";
import { lowStockRule } from "../domain/sales/sales.ts";
import { hourMs } from "../domain/values/times.ts";
import * as lifecycle from "../domain/webhooks/lifecycle.ts";
import { createSendMessage } from "../domain/webhooks/requested-messages.ts";
import { isConfirmed, type Webhook } from "../domain/webhooks/webhook.ts";
import { attemptJson } from "../domain/webhooks/webhook-json.ts";
import { print, printError } from "../output.ts";
import type { SettingName } from "../settings.ts";
import { userAgent } from "../version.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import { type Json, json, storeSettings, type UnlistedCommand } from "./command.ts";
import { parseCount, parseDuration, parseList } from "./flags.ts";
import { listenCommand } from "./listen.ts";
import { type OpenStore, storeCommand } from "./store-command.ts";
import { printTable } from "./table.ts";
import { attemptColumns, describe, filterText, listColumns } from "./webhook-rows.ts";

const id = [{ name: "ID", description: "Id of the webhook, such as wh_0aB…" }] as const;
const sendingSettings: readonly SettingName[] = [
  ...storeSettings,
  ...(["webhooksAllowInsecure", "webhooksAllowedNetworks"] as const),
];

/** The commands that change the state of a webhook. */
const states = [
  ["pause", "Stops the deliveries of a webhook. Its position is kept.", lifecycle.pauseWebhook],
  [
    "resume",
    "Continues the deliveries after the last change that was delivered.",
    lifecycle.resumeWebhook,
  ],
] as const;

export const webhookCommands: readonly UnlistedCommand[] = [
  storeCommand({
    name: "webhooks create",
    summary: "Creates a webhook and prints its secret once.",
    examples: [
      "petstore webhooks create --url https://shop.example/stock",
      "petstore webhooks create --url https://shop.example/low --below 5 --statuses available",
    ],
    flags: {
      url: {
        placeholder: "URL",
        required: true,
        description: "Address that receives the changes.",
      },
      name: {
        placeholder: "NAME",
        description: "Name of the webhook, for operators. Default: the host of the URL.",
      },
      pets: { placeholder: "IDS", description: "Only changes of these pets, separated by commas." },
      statuses: {
        placeholder: "STATUSES",
        description: `Only changes after which a pet has one of these statuses, separated by commas: ${petStatuses.join(", ")}.`,
      },
      causes: {
        placeholder: "CAUSES",
        description: `Only changes with one of these causes, separated by commas: ${causes.join(", ")}.`,
      },
      below: {
        placeholder: "N",
        description: "Only changes in which the quantity fell below N: from N or more, to less.",
      },
      "becomes-low": { description: `Only changes by which an entry became low. ${lowStockRule}` },
      from: {
        placeholder: "SEQ",
        description: "Ledger row of the first change to deliver. Default: the next change.",
      },
      json,
    },
    changes: true,
    settings: sendingSettings,
    async run({ flags, config, store }) {
      const { webhook, secret, isResolved } = await lifecycle.createWebhook(
        store,
        createWebhookSender(config),
        {
          url: flags.url,
          name: flags.name,
          pets: parseList(flags.pets),
          statuses: parseList(flags.statuses),
          causes: parseList(flags.causes),
          below: parseCount(flags.below),
          becomesLow: flags["becomes-low"],
          from: parseCount(flags.from),
        },
        byCommand(Date.now()),
      );
      if (!isResolved) {
        printError("the webhook was created, but its host does not resolve at the moment");
      }
      if (flags.json) print(JSON.stringify({ ...describe({ webhook }), secret }));
      else printSecret(webhook, secret);
    },
  }),
  storeCommand({
    name: "webhooks list",
    summary: "Lists all webhooks, their state, and how many changes each is behind.",
    examples: ["petstore webhooks list"],
    flags: { json },
    async run({ flags, config, store }) {
      const all = await lifecycle.listWebhooks(store);
      if (flags.json) print(JSON.stringify(all.map(describe)));
      else if (all.length === 0) {
        print(
          `There are no webhooks. Create one with ${commandLine(config, ["webhooks", "create"])}.`,
        );
      } else await printTable(all, listColumns);
    },
  }),
  storeCommand({
    name: "webhooks show",
    summary: "Shows one webhook, its state and its last attempts.",
    examples: ["petstore webhooks show wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    async run({ flags, operands: [id], store }) {
      const status = await lifecycle.getWebhookStatus(store, id);
      const attempts = status.attempts.map(attemptJson);
      const shown = describe(status);
      if (flags.json) {
        print(JSON.stringify({ ...shown, attempts }));
        return 0;
      }
      for (const [name, value] of Object.entries({
        ...shown,
        filter: filterText(status.webhook.filter),
      }))
        print(`${name.padEnd(16)} ${value ?? "-"}`);
      print("");
      if (attempts.length === 0) print("No attempts were made yet.");
      else await printTable(status.attempts, attemptColumns);
    },
  }),
  storeCommand({
    name: "webhooks rotate",
    summary: "Gives a webhook a new secret. During the overlap, messages are signed with both.",
    examples: ["petstore webhooks rotate wh_0aBcDeFgHiJkLmNo --overlap 1h"],
    operands: id,
    flags: {
      overlap: {
        placeholder: "DURATION",
        description: `How long messages are also signed with the old secret, such as 30m, 24h or 7d. Default: ${lifecycle.defaultOverlapMs / hourMs}h.`,
      },
      json,
    },
    changes: true,
    async run({ flags, operands: [id], store }) {
      const overlapMs = parseDuration("overlap", flags.overlap);
      const by = byCommand(Date.now());
      const { webhook, secret } = await lifecycle.rotateSecret(store, id, by, overlapMs);
      const fields = describe({ webhook });
      const { oldSecretUntil } = fields;
      if (flags.json) print(JSON.stringify({ ...fields, secret }));
      else {
        printSecret(webhook, secret);
        print(
          oldSecretUntil === null
            ? "The old secret no longer signs."
            : `The old secret also signs until ${oldSecretUntil}.`,
        );
      }
    },
  }),
  ...states.map(([verb, summary, change]) =>
    storeCommand({
      name: `webhooks ${verb}`,
      summary,
      examples: [`petstore webhooks ${verb} wh_0aBcDeFgHiJkLmNo`],
      operands: id,
      flags: { json },
      changes: true,
      async run({ flags, operands: [id], store }) {
        const webhook = await change(store, id, byCommand(Date.now()));
        if (flags.json) print(JSON.stringify(describe({ webhook })));
        else print(`Webhook ${id} (${webhook.name}) is ${conditionOf(webhook)}.`);
      },
    }),
  ),
  storeCommand({
    name: "webhooks replay",
    summary: "Delivers changes of a webhook again, with new message ids.",
    examples: ["petstore webhooks replay wh_0aBcDeFgHiJkLmNo --from 1200"],
    operands: id,
    flags: {
      from: {
        placeholder: "SEQ",
        required: true,
        description: "Ledger row of the first change to deliver.",
      },
      json,
    },
    changes: true,
    async run({ flags, operands: [id], config, store }) {
      const from = parseCount(flags.from) ?? Number.NaN;
      const webhook = await lifecycle.replayWebhook(store, id, from, byCommand(Date.now()));
      if (flags.json) print(JSON.stringify(describe({ webhook })));
      else {
        print(`Webhook ${id} (${webhook.name}) continues with change ${webhook.cursor.seq + 1}.`);
        if (webhook.state !== "active") {
          print(
            `It is still ${webhook.state}. Start it with ${commandLine(config, ["webhooks", "resume", id])}.`,
          );
        }
      }
    },
  }),
  storeCommand({
    name: "webhooks test",
    summary: "Sends a signed test message from this machine, and shows the response.",
    examples: ["petstore webhooks test wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: "record",
    settings: sendingSettings,
    run: ({ operands: [id], ...input }) => sendMessage(input, id),
  }),
  storeCommand({
    name: "webhooks resend",
    summary: "Sends one message of the delivery log again, and shows the response.",
    examples: ["petstore webhooks resend wh_0aBcDeFgHiJkLmNo msg_54f76be4fa3ad672369064787c231293"],
    operands: [...id, { name: "MESSAGE", description: "Id of the message, from webhooks show." }],
    flags: { json },
    changes: "record",
    settings: [...sendingSettings, "lowStockAt"],
    run: ({ operands: [id, messageId], ...input }) => sendMessage(input, id, messageId),
  }),
  listenCommand,
  storeCommand({
    name: "webhooks delete",
    summary: "Deletes a webhook and its delivery log.",
    examples: ["petstore webhooks delete wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    async run({ flags, operands: [id], store }) {
      const { name } = await lifecycle.deleteWebhook(store, id, byCommand(Date.now()));
      if (flags.json) print(JSON.stringify({ id, name }));
      else print(`Webhook ${id} (${name}) is deleted.`);
    },
  }),
];

/** Sends one message, and prints the attempt. Returns 1 if the receiver has not confirmed it. */
async function sendMessage(
  { flags, config, store }: OpenStore & { readonly flags: Json },
  id: string,
  messageId?: string,
): Promise<number> {
  const sender = createWebhookSender(config);
  const send = createSendMessage({ ...config, store, sender, userAgent: userAgent() });
  const { signal } = new AbortController();
  const attempt = await send(id, messageId, byCommand(Date.now()), signal);
  if (flags.json) print(JSON.stringify(attemptJson(attempt)));
  else await printTable([attempt], attemptColumns);
  return isConfirmed(attempt) ? 0 : 1;
}

function printSecret({ id }: Webhook, secret: string): void {
  print(`id:      ${id}`);
  print(`secret:  ${secret}`);
}
