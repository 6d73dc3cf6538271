import { commandLine } from "../domain/audit/audit.ts";
import {
  getKeyStatus,
  type IssuedKey,
  issueKey,
  issueOperatorKey,
  liftBan,
  listKeyStatuses,
  revokeKey,
  rotateKey,
} from "../domain/keys/lifecycle.ts";
import { InvalidField } from "../domain/running/errors.ts";
import { isoOrNull } from "../domain/values/times.ts";
import { print } from "../output.ts";
import type { Json } from "./command.ts";
import { parseCount, parseDuration, parseList, parseTime } from "./flags.ts";
import { describe, fieldsOf, listColumns } from "./key-rows.ts";
import { printTable } from "./table.ts";
import type { StoreInput } from "./with-store.ts";

interface CreateFlags extends Json {
  readonly name: string;
  readonly plan: string | undefined;
  readonly operator: boolean;
  readonly "per-minute": string | undefined;
  readonly "per-day": string | undefined;
  readonly scopes: string | undefined;
  readonly expires: string | undefined;
}

type Id = readonly [id: string];

/** Plan, limits and scopes of an operator key are fixed. */
function rejectApiFlags(flags: CreateFlags): void {
  const fields = [
    ["plan", flags.plan],
    ["perMinute", flags["per-minute"]],
    ["perDay", flags["per-day"]],
    ["scopes", flags.scopes],
  ] as const;
  for (const [field, value] of fields) {
    if (value !== undefined) throw new InvalidField(field, "is not allowed with --operator");
  }
}

export async function createKey({ flags, config, store }: StoreInput<CreateFlags>) {
  const { environment } = config;
  const { name, plan } = flags;
  const expiresAt = parseTime(flags.expires);
  if (flags.operator) rejectApiFlags(flags);
  else if (plan === undefined) throw new InvalidField("plan", "is required without --operator");
  const issued = flags.operator
    ? await issueOperatorKey(store, environment, Date.now(), { name, expiresAt }, commandLine)
    : await issueKey(
        store,
        environment,
        Date.now(),
        {
          name,
          plan: plan!,
          perMinute: parseCount(flags["per-minute"]),
          perDay: parseCount(flags["per-day"]),
          scopes: parseList(flags.scopes),
          expiresAt,
        },
        commandLine,
      );
  if (flags.json) print(JSON.stringify({ ...describe(issued), key: issued.text }));
  else printSecret(issued);
  return 0;
}

export async function rotate({
  flags,
  operands: [id],
  config,
  store,
}: StoreInput<Json & { readonly overlap: string | undefined }, Id>) {
  const overlapMs = parseDuration("overlap", flags.overlap);
  const rotated = await rotateKey(
    store,
    config.environment,
    Date.now(),
    id,
    commandLine,
    overlapMs,
  );
  const oldValidUntil = isoOrNull(rotated.oldValidUntil);
  if (flags.json) {
    print(JSON.stringify({ ...describe(rotated), key: rotated.text, oldValidUntil }));
  } else {
    printSecret(rotated);
    print(`The old key is valid until ${oldValidUntil}.`);
  }
  return 0;
}

export async function revoke({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const key = await revokeKey(store, Date.now(), id, commandLine);
  if (flags.json) print(JSON.stringify(describe({ key })));
  else print(`Key ${key.id} (${key.name}) is revoked.`);
  return 0;
}

export async function unban({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const lifted = await liftBan(store, Date.now(), id, commandLine);
  if (flags.json) print(JSON.stringify({ id, lifted }));
  else print(lifted ? `Key ${id} is no longer banned.` : `Key ${id} was not banned.`);
  return 0;
}

export async function showKey({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const status = await getKeyStatus(store, Date.now(), id);
  if (flags.json) print(JSON.stringify(describe(status)));
  else for (const [name, text] of fieldsOf(status)) print(`${name.padEnd(14)} ${text}`);
  return 0;
}

export async function listKeys({ flags, store }: StoreInput<Json>) {
  const all = await listKeyStatuses(store, Date.now());
  if (flags.json) print(JSON.stringify(all.map(describe)));
  else if (all.length === 0) print("There are no keys. Create one with petstore keys create.");
  else await printTable(all, listColumns);
  return 0;
}

function printSecret({ key, text }: IssuedKey): void {
  print(`Key ${key.id} (${key.name}, ${key.plan}). The key is shown only once:`);
  print(text);
}
