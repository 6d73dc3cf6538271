import { commandLine } from "../domain/audit/audit.ts";
import {
  createWebhook,
  deleteWebhook,
  getWebhookStatus,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  rotateSecret,
} from "../domain/webhooks/lifecycle.ts";
import type { Webhook } from "../domain/webhooks/webhook.ts";
import { attemptJson } from "../domain/webhooks/webhook-json.ts";
import { print, printError } from "../output.ts";
import { createWebhookSender } from "../webhooks/sender.ts";
import type { Json } from "./command.ts";
import { parseCount, parseDuration, parseList } from "./flags.ts";
import { printTable } from "./table.ts";
import { attemptColumns, describe, filterText, listColumns, stateText } from "./webhook-rows.ts";
import type { StoreInput } from "./with-store.ts";

interface CreateFlags extends Json {
  readonly url: string;
  readonly name: string | undefined;
  readonly pets: string | undefined;
  readonly statuses: string | undefined;
  readonly causes: string | undefined;
  readonly below: string | undefined;
  readonly from: string | undefined;
}

type Id = readonly [id: string];

export async function create({ flags, config, store }: StoreInput<CreateFlags>) {
  const sender = createWebhookSender({
    allowInsecure: config.webhooksAllowInsecure,
    allowedNetworks: config.webhooksAllowedNetworks,
  });
  const { webhook, secret, isResolved } = await createWebhook(
    store,
    sender,
    Date.now(),
    {
      url: flags.url,
      name: flags.name,
      pets: parseList(flags.pets),
      statuses: parseList(flags.statuses),
      causes: parseList(flags.causes),
      below: parseCount(flags.below),
      from: parseCount(flags.from),
    },
    commandLine,
  );
  if (!isResolved) {
    printError("the webhook was created, but its host does not resolve at the moment");
  }
  if (flags.json) print(JSON.stringify({ ...describe({ webhook }), secret }));
  else printSecret(webhook, secret);
  return 0;
}

export async function rotate({
  flags,
  operands: [id],
  store,
}: StoreInput<Json & { readonly overlap: string | undefined }, Id>) {
  const overlapMs = parseDuration("overlap", flags.overlap);
  const { webhook, secret } = await rotateSecret(store, Date.now(), id, commandLine, overlapMs);
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
  return 0;
}

export async function pause({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  printState(await pauseWebhook(store, Date.now(), id, commandLine), flags);
  return 0;
}

export async function resume({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  printState(await resumeWebhook(store, Date.now(), id, commandLine), flags);
  return 0;
}

export async function replay({
  flags,
  operands: [id],
  store,
}: StoreInput<Json & { readonly from: string }, Id>) {
  const webhook = await replayWebhook(
    store,
    Date.now(),
    id,
    parseCount(flags.from) ?? Number.NaN,
    commandLine,
  );
  if (flags.json) print(JSON.stringify(describe({ webhook })));
  else {
    print(`Webhook ${id} (${webhook.name}) continues with change ${webhook.cursor.seq + 1}.`);
    if (webhook.state !== "active") {
      print(`It is still ${webhook.state}. Start it with petstore webhooks resume ${id}.`);
    }
  }
  return 0;
}

export async function remove({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const { name } = await deleteWebhook(store, Date.now(), id, commandLine);
  if (flags.json) print(JSON.stringify({ id, name }));
  else print(`Webhook ${id} (${name}) is deleted.`);
  return 0;
}

export async function list({ flags, store }: StoreInput<Json>) {
  const all = await listWebhooks(store);
  if (flags.json) print(JSON.stringify(all.map(describe)));
  else if (all.length === 0) {
    print("There are no webhooks. Create one with petstore webhooks create.");
  } else await printTable(all, listColumns);
  return 0;
}

export async function show({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const status = await getWebhookStatus(store, id);
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
  return 0;
}

function printSecret({ id }: Webhook, secret: string): void {
  print(`id:      ${id}`);
  print(`secret:  ${secret}`);
}

function printState(webhook: Webhook, { json }: Json): void {
  if (json) print(JSON.stringify(describe({ webhook })));
  else print(`Webhook ${webhook.id} (${webhook.name}) is ${stateText(webhook)}.`);
}
