import {
  checkChoice,
  checkInteger,
  checkString,
  checkStringOrNull,
  decodeList,
  type Fields,
  fail,
  readFields,
  readId,
} from "./fields.js";
import { type Json, withToJson } from "./json.js";
import {
  type InventoryDifference,
  type LedgerHead,
  type LedgerRow,
  petStatusValues,
  type VersionedItem,
} from "./types.js";

// Checks responses that show the ledger, by the rules in decode.ts.

/** Returns a decoder. The response to a dry run must say that it was one: otherwise the changes were made. */
export function decodeAppliedChanges(isDryRun: boolean): (value: Json) => VersionedItem[] {
  return (value) => {
    const { entries, dryRun } = readFields(value);
    if (isDryRun && dryRun !== true) fail("dryRun", "true");
    return decodeList(entries as Json | undefined, decodeVersionedItem);
  };
}

function decodeVersionedItem(value: Json): VersionedItem {
  const fields = readFields(value);
  fields.petId = readId(fields.petId, "petId");
  checkStock(fields);
  checkInteger(fields.version, "version");
  if (fields.before !== undefined) checkStock(readFields(fields.before as Json));
  return withToJson(fields) as unknown as VersionedItem;
}

export function decodeLedgerRows(value: Json | undefined): LedgerRow[] {
  return decodeList(value, decodeLedgerRow);
}

export function decodeLedgerRow(value: Json): LedgerRow {
  const fields = readFields(value);
  checkInteger(fields.seq, "seq");
  checkBeforeAndAfter(fields);
  checkString(fields.cause, "cause");
  for (const name of ["keyId", "keyName", "reason", "requestId"]) {
    checkStringOrNull(fields[name], name);
  }
  checkString(fields.at, "at");
  return withToJson(fields) as unknown as LedgerRow;
}

/** Decodes the data of a heartbeat or a reset in the feed; returns its `seq`. */
export function decodePosition(value: Json): number {
  const { seq } = readFields(value);
  checkInteger(seq, "seq");
  return seq as number;
}

export function decodeDifferences(value: Json): InventoryDifference[] {
  return decodeList(value, (item) => {
    const fields = readFields(item);
    checkBeforeAndAfter(fields);
    return withToJson(fields) as unknown as InventoryDifference;
  });
}

export function decodeLedgerHead(value: Json): LedgerHead {
  const fields = readFields(value);
  checkInteger(fields.seq, "seq");
  checkString(fields.hash, "hash");
  checkStringOrNull(fields.at, "at");
  return fields as unknown as LedgerHead;
}

function checkBeforeAndAfter(fields: Fields): void {
  fields.petId = readId(fields.petId, "petId");
  for (const stock of [fields.before, fields.after]) {
    if (stock !== null) checkStock(readFields(stock as Json | undefined));
  }
}

function checkStock({ quantity, status }: Fields): void {
  checkInteger(quantity, "quantity");
  checkChoice(status, "status", petStatusValues);
}
