import { defaultScopes, scopes } from "../domain/keys/keys.ts";
import { defaultOverlapMs } from "../domain/keys/lifecycle.ts";
import { planNames, plans } from "../domain/limits/plans.ts";
import { type Command, command, creatingSettings, json } from "./command.ts";
import { createKey, listKeys, revoke, rotate, showKey, unban } from "./keys.ts";
import { withExistingStore, withStore } from "./with-store.ts";

const customPlans = planNames.filter((plan) => plans[plan] === null).join(" or ");
const id = [{ name: "ID", description: "Id of the key, such as key_0aB…" }] as const;

export const keyCommands: readonly Command[] = [
  command({
    name: "keys create",
    summary: "Creates an API key or an operator key, and prints it once.",
    topic: "keys",
    examples: [
      "petstore keys create --name till-3 --plan pro",
      "petstore keys create --name anna --operator",
    ],
    flags: {
      name: {
        placeholder: "NAME",
        required: true,
        description: "Name of the key, for operators.",
      },
      plan: {
        placeholder: planNames.join("|"),
        description: "Plan of the key, which sets its limits. Required without --operator.",
      },
      operator: {
        description: "Create an operator key, for the console and the operator API.",
      },
      "per-minute": {
        placeholder: "N",
        field: "perMinute",
        description: `Requests per minute, only for the plan ${customPlans}.`,
      },
      "per-day": {
        placeholder: "N",
        field: "perDay",
        description: `Requests per day, only for the plan ${customPlans}.`,
      },
      scopes: {
        placeholder: "SCOPES",
        description: `Scopes of the key, separated by commas: ${scopes.join(", ")}. Default: ${defaultScopes.join(", ")}.`,
      },
      expires: {
        placeholder: "TIME",
        field: "expiresAt",
        description: "Time at which the key expires, such as 2027-01-31T00:00:00Z.",
      },
      json,
    },
    changes: true,
    settings: creatingSettings,
    run: withStore(createKey),
  }),
  command({
    name: "keys list",
    summary: "Lists all keys: plan, state, last use, requests today, and secrets.",
    topic: "keys",
    examples: ["petstore keys list", "petstore keys list --json"],
    flags: { json },
    run: withExistingStore(listKeys),
  }),
  command({
    name: "keys show",
    summary: "Shows one key: limits, scopes, state, last use, requests today, and secrets.",
    topic: "keys",
    examples: ["petstore keys show key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    run: withExistingStore(showKey),
  }),
  command({
    name: "keys rotate",
    summary: "Gives a key a new secret. The old secret stays valid for the overlap.",
    topic: "keys",
    examples: ["petstore keys rotate key_0aBcDeFgHiJkLmNo --overlap 7d"],
    operands: id,
    flags: {
      overlap: {
        placeholder: "DURATION",
        description: `How long the old secret stays valid, such as 30m, 24h or 7d. Default: ${defaultOverlapMs / 3_600_000}h.`,
      },
      json,
    },
    changes: true,
    run: withExistingStore(rotate),
  }),
  command({
    name: "keys revoke",
    summary: "Revokes a key.",
    topic: "keys",
    examples: ["petstore keys revoke key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    run: withExistingStore(revoke),
  }),
  command({
    name: "keys unban",
    summary: "Ends a ban and clears the strikes.",
    topic: "keys",
    examples: ["petstore keys unban key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    run: withExistingStore(unban),
  }),
];
