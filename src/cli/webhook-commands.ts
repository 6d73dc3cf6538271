import { petStatuses } from "../domain/ledger/inventory.ts";
import { causes } from "../domain/ledger/ledger.ts";
import { defaultOverlapMs } from "../domain/webhooks/lifecycle.ts";
import { type Command, command, json, storeSettings } from "./command.ts";
import { create, list, pause, remove, replay, resume, rotate, show } from "./webhooks.ts";
import { withExistingStore } from "./with-store.ts";

const id = [{ name: "ID", description: "Id of the webhook, such as wh_0aB…" }] as const;

export const webhookCommands: readonly Command[] = [
  command({
    name: "webhooks create",
    summary: "Creates a webhook and prints its secret once.",
    topic: "webhooks",
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
      pets: {
        placeholder: "IDS",
        description: "Only changes of these pets, separated by commas.",
      },
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
      from: {
        placeholder: "SEQ",
        description: "Ledger row of the first change to deliver. Default: the next change.",
      },
      json,
    },
    changes: true,
    settings: [...storeSettings, "webhooksAllowInsecure", "webhooksAllowedNetworks"],
    run: withExistingStore(create),
  }),
  command({
    name: "webhooks list",
    summary: "Lists all webhooks, their state, and how many changes each is behind.",
    topic: "webhooks",
    examples: ["petstore webhooks list"],
    flags: { json },
    run: withExistingStore(list),
  }),
  command({
    name: "webhooks show",
    summary: "Shows one webhook, its state and its last attempts.",
    topic: "webhooks",
    examples: ["petstore webhooks show wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    run: withExistingStore(show),
  }),
  command({
    name: "webhooks rotate",
    summary: "Gives a webhook a new secret. During the overlap, messages are signed with both.",
    topic: "webhooks",
    examples: ["petstore webhooks rotate wh_0aBcDeFgHiJkLmNo --overlap 1h"],
    operands: id,
    flags: {
      overlap: {
        placeholder: "DURATION",
        description: `How long messages are also signed with the old secret, such as 30m, 24h or 7d. Default: ${defaultOverlapMs / 3_600_000}h.`,
      },
      json,
    },
    changes: true,
    run: withExistingStore(rotate),
  }),
  command({
    name: "webhooks pause",
    summary: "Stops the deliveries of a webhook. Its position is kept.",
    topic: "webhooks",
    examples: ["petstore webhooks pause wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    run: withExistingStore(pause),
  }),
  command({
    name: "webhooks resume",
    summary: "Continues the deliveries of a webhook after the last change that was delivered.",
    topic: "webhooks",
    examples: ["petstore webhooks resume wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    run: withExistingStore(resume),
  }),
  command({
    name: "webhooks replay",
    summary: "Delivers changes of a webhook again, with new message ids.",
    topic: "webhooks",
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
    run: withExistingStore(replay),
  }),
  command({
    name: "webhooks delete",
    summary: "Deletes a webhook and its delivery log.",
    topic: "webhooks",
    examples: ["petstore webhooks delete wh_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    run: withExistingStore(remove),
  }),
];
