import {
  getKeyStatus,
  type IssuedKey,
  issueKey,
  liftBan,
  listKeyStatuses,
  revokeKey,
  rotateKey,
} from "../domain/key-lifecycle.ts";
import { print } from "../output.ts";
import { parseCount, parseDuration, parseList, parseTime } from "./flag-values.ts";
import { describe, fieldsOf, isoOrNull, listColumns } from "./key-rows.ts";
import { printTable } from "./listing.ts";
import type { StoreInput } from "./with-store.ts";

interface Json {
  readonly json: boolean;
}

interface CreateFlags extends Json {
  readonly name: string;
  readonly plan: string;
  readonly "per-minute": string | undefined;
  readonly "per-day": string | undefined;
  readonly scopes: string | undefined;
  readonly expires: string | undefined;
}

type Id = readonly [id: string];

export async function createKey({ flags, config, store }: StoreInput<CreateFlags>) {
  const issued = await issueKey(store, config.environment, Date.now(), {
    name: flags.name,
    plan: flags.plan,
    perMinute: parseCount(flags["per-minute"]),
    perDay: parseCount(flags["per-day"]),
    scopes: parseList(flags.scopes),
    expiresAt: parseTime(flags.expires),
  });
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
  const rotated = await rotateKey(store, config.environment, Date.now(), id, overlapMs);
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
  const key = await revokeKey(store, Date.now(), id);
  if (flags.json) print(JSON.stringify(describe({ key })));
  else print(`Key ${key.id} (${key.name}) is revoked.`);
  return 0;
}

export async function unban({ flags, operands: [id], store }: StoreInput<Json, Id>) {
  const lifted = await liftBan(store, Date.now(), id);
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
