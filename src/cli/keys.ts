import { commandLine } from "../command-lines.ts";
import { byCommand } from "../domain/audit/audit.ts";
import { defaultScopes, roles, scopes } from "../domain/keys/keys.ts";
import * as lifecycle from "../domain/keys/lifecycle.ts";
import { planNames, plans } from "../domain/limits/plans.ts";
import { InvalidField } from "../domain/running/errors.ts";
import { hourMs, isoOrNull } from "../domain/values/times.ts";
import { print } from "../output.ts";
import { json, type UnlistedCommand } from "./command.ts";
import { parseCount, parseDuration, parseList, parseTime } from "./flags.ts";
import { describe, fieldsOf, listColumns, planOf } from "./key-rows.ts";
import { storeCommand } from "./store-command.ts";
import { printTable } from "./table.ts";

const customPlans = planNames.filter((plan) => plans[plan] === null).join(" or ");
const id = [{ name: "ID", description: "Id of the key, such as key_0aB…" }] as const;

export const keyCommands: readonly UnlistedCommand[] = [
  storeCommand({
    name: "keys create",
    summary: "Creates an API key or an operator key, and prints it once.",
    examples: [
      "petstore keys create --name till-3 --plan pro",
      "petstore keys create --name anna --operator --role clerk",
    ],
    flags: {
      name: { placeholder: "NAME", required: true, description: "Name of the key, for operators." },
      plan: {
        placeholder: planNames.join("|"),
        description: "Plan of the key, which sets its limits. Required without --operator.",
      },
      operator: { description: "Create an operator key, for the console and the operator API." },
      role: {
        placeholder: roles.join("|"),
        description:
          "Role of an operator key: a viewer reads, a clerk also changes stock and imports files, an owner can do everything. Default: owner. Only with --operator.",
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
    creates: true,
    async run({ flags, config, store }) {
      const { environment } = config;
      const { name, plan, role } = flags;
      const common = { name, expiresAt: parseTime(flags.expires) };
      const limits = {
        perMinute: parseCount(flags["per-minute"]),
        perDay: parseCount(flags["per-day"]),
        scopes: parseList(flags.scopes),
      };
      let issued: lifecycle.IssuedKey;
      if (flags.operator) {
        // The role of an operator key stands for plan, limits and scopes.
        for (const [field, value] of Object.entries({ plan, ...limits })) {
          if (value !== undefined) throw new InvalidField(field, "is not allowed with --operator");
        }
        const terms = { ...common, role };
        issued = await lifecycle.issueOperatorKey(store, environment, terms, byCommand(Date.now()));
      } else {
        if (role !== undefined) throw new InvalidField("role", "is allowed only with --operator");
        if (plan === undefined) throw new InvalidField("plan", "is required without --operator");
        const terms = { ...common, plan, ...limits };
        issued = await lifecycle.issueKey(store, environment, terms, byCommand(Date.now()));
      }
      if (flags.json) print(JSON.stringify({ ...describe(issued), key: issued.text }));
      else printSecret(issued);
    },
  }),
  storeCommand({
    name: "keys list",
    summary: "Lists all keys: plan, state, last use, requests today, and secrets.",
    examples: ["petstore keys list", "petstore keys list --json"],
    flags: { json },
    async run({ flags, config, store }) {
      const all = await lifecycle.listKeyStatuses(store, Date.now());
      if (flags.json) print(JSON.stringify(all.map(describe)));
      else if (all.length === 0)
        print(`There are no keys. Create one with ${commandLine(config, ["keys", "create"])}.`);
      else await printTable(all, listColumns);
    },
  }),
  storeCommand({
    name: "keys show",
    summary: "Shows one key: limits, scopes, state, last use, requests today, and secrets.",
    examples: ["petstore keys show key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    async run({ flags, operands: [id], store }) {
      const status = await lifecycle.getKeyStatus(store, Date.now(), id);
      if (flags.json) print(JSON.stringify(describe(status)));
      else for (const [name, text] of fieldsOf(status)) print(`${name.padEnd(14)} ${text}`);
    },
  }),
  storeCommand({
    name: "keys rotate",
    summary: "Gives a key a new secret. The old secret stays valid for the overlap.",
    examples: ["petstore keys rotate key_0aBcDeFgHiJkLmNo --overlap 7d"],
    operands: id,
    flags: {
      overlap: {
        placeholder: "DURATION",
        description: `How long the old secret stays valid, such as 30m, 24h or 7d. Default: ${lifecycle.defaultOverlapMs / hourMs}h.`,
      },
      json,
    },
    changes: true,
    async run({ flags, operands: [id], config, store }) {
      const overlapMs = parseDuration("overlap", flags.overlap);
      const by = byCommand(Date.now());
      const rotated = await lifecycle.rotateKey(store, config.environment, id, by, overlapMs);
      const oldValidUntil = isoOrNull(rotated.oldValidUntil);
      if (flags.json) {
        print(JSON.stringify({ ...describe(rotated), key: rotated.text, oldValidUntil }));
      } else {
        printSecret(rotated);
        print(`The old key is valid until ${oldValidUntil}.`);
      }
    },
  }),
  storeCommand({
    name: "keys revoke",
    summary: "Revokes a key.",
    examples: ["petstore keys revoke key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { force: { description: "Revoke also the last valid key of an owner." }, json },
    changes: true,
    async run({ flags, operands: [id], store }) {
      const key = await lifecycle.revokeKey(store, id, byCommand(Date.now()), flags.force);
      if (flags.json) print(JSON.stringify(describe({ key })));
      else print(`Key ${key.id} (${key.name}) is revoked.`);
    },
  }),
  storeCommand({
    name: "keys unban",
    summary: "Ends a ban and clears the strikes.",
    examples: ["petstore keys unban key_0aBcDeFgHiJkLmNo"],
    operands: id,
    flags: { json },
    changes: true,
    async run({ flags, operands: [id], store }) {
      const lifted = await lifecycle.liftBan(store, id, byCommand(Date.now()));
      if (flags.json) print(JSON.stringify({ id, lifted }));
      else print(lifted ? `Key ${id} is no longer banned.` : `Key ${id} was not banned.`);
    },
  }),
];

function printSecret({ key, text }: lifecycle.IssuedKey): void {
  print(`Key ${key.id} (${key.name}, ${planOf(key)}). The key is shown only once:`);
  print(text);
}
