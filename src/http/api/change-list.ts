import { changeMessage, deltaRule, readDelta, versionRule } from "../../domain/ledger/changes.ts";
import { parseCursor } from "../../domain/ledger/cursors.ts";
import {
  type Entry,
  isPetStatus,
  petStatuses,
  quantityRule,
  readQuantity,
  type Stock,
} from "../../domain/ledger/inventory.ts";
import { type Change, type Stored, seqMax, stockJson } from "../../domain/ledger/ledger.ts";
import { invalidRequest, type ServiceError } from "../../domain/running/errors.ts";
import { changesMax } from "../../domain/values/bounds.ts";
import { int64Max, int64Min } from "../../domain/values/int64.ts";
import {
  eachField,
  elementsAt,
  endOfValue,
  isJsonObject,
  JsonNumber,
  readString,
  skipSpace,
} from "../../domain/values/json.ts";
import { isReason, reasonRule } from "../../domain/values/texts.ts";
import { parseInstant } from "../../domain/values/times.ts";
import { type Fields, parseBody, rejectUnknownField } from "../messages/fields.ts";

export const changesRequired = `The body must be a JSON object with the field 'changes', an array of 1 to ${changesMax} changes.`;

export const dryRunRule = "Field 'dryRun' must be true or false.";

const fields = ["petId", "quantity", "delta", "expectedVersion", "reason"] as const;
const operatorFields = [...fields, "status", "countedAt", "countedTime"] as const;

/** A change as it was sent. Undefined means not given. */
type SentChange = Readonly<Partial<Record<(typeof operatorFields)[number], unknown>>>;

/**
 * Returns the changes of a batch. An error names the index of the change, from 0. Only operators change a
 * status or apply a count: for others, these are unknown fields.
 */
export function readChanges(sent: Fields, isOperator = false): readonly Change[] {
  const { changes } = sent;
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > changesMax) {
    throw invalidRequest(changesRequired);
  }
  const names = isOperator ? operatorFields : fields;
  return changes.map((change: unknown, index) => {
    if (!isJsonObject(change)) throw invalidRequest(`Change ${index} must be a JSON object.`);
    for (const name in change) rejectUnknownField(name, names, `Change ${index}: `);
    return toChange(change, index);
  });
}

/** Whether a batch is a dry run. */
export function readDryRun({ dryRun = false }: Fields): boolean {
  if (typeof dryRun !== "boolean") throw invalidRequest(dryRunRule);
  return dryRun;
}

/** The fields of the body of a batch. Other values than texts and numbers are null in its changes. */
export function parseBatch(text: string): Fields {
  // Without the reviver of other bodies: see domain/values/json.ts.
  parseBody(text, JSON.parse);
  const body = skipSpace(text, 0);
  const sent: Record<string, unknown> = {};
  if (text[body] !== "{") throw invalidRequest(changesRequired);
  eachField(text, body, (name, start) => {
    rejectUnknownField(name, ["changes", "dryRun"]);
    if (name === "changes") sent.changes = text[start] === "[" ? changesAt(text, start) : null;
    else sent.dryRun = JSON.parse(text.slice(start, endOfValue(text, start)));
  });
  return sent;
}

function changesAt(text: string, list: number): readonly unknown[] {
  // One more than allowed shows that there are too many.
  return elementsAt(text, list, changesMax + 1).map((start) => {
    if (text[start] !== "{") return null;
    // Without a prototype, which a field could have the name of.
    const change: Record<string, unknown> = Object.create(null);
    eachField(text, start, (name, at) => {
      change[name] = readScalar(text, at);
    });
    return change;
  });
}

/** A string, or a number with all its digits. Null stands for every other value: none is valid. */
function readScalar(text: string, at: number): string | JsonNumber | null {
  const first = text[at]!;
  if (first === '"') return readString(text, at, endOfValue(text, at));
  return /[-0-9]/.test(first) ? new JsonNumber(text.slice(at, endOfValue(text, at))) : null;
}

export const petIdFieldRule = "Field 'petId' is required and must be a 64-bit integer.";
export const oneAmountRule = "Exactly one of the fields 'quantity' and 'delta' is required.";

function toChange(sent: SentChange, index: number): Change {
  const petId = readId(sent.petId);
  if (petId === undefined) throw invalidRequest(`Change ${index}: ${petIdFieldRule}`);
  const fail = (sentence: string) => invalidRequest(changeMessage(index, petId, sentence));
  return {
    petId,
    ...readAmount(sent, fail),
    expected: readExpected(sent, fail),
    reason: readReason(sent, fail),
  };
}

/** A status alone leaves the quantity as it is. */
export function readAmount(
  sent: SentChange,
  fail: Fail,
): Pick<Change, "kind" | "amount" | "status" | "countedAt"> {
  const status = readStatus(sent.status, fail);
  const countedAt = readCountedAt(sent, fail);
  const given = [sent.quantity, sent.delta].filter((value) => value !== undefined).length;
  if (given === 0 && status !== undefined) return { kind: "add", amount: 0, ...status };
  if (given !== 1) throw fail(oneAmountRule);
  const kind = sent.delta === undefined ? "set" : "add";
  const amount = kind === "set" ? readQuantity(sent.quantity) : readDelta(sent.delta);
  if (amount === undefined) {
    throw fail(
      kind === "set" ? `Field 'quantity' ${quantityRule}.` : `Field 'delta' ${deltaRule}.`,
    );
  }
  if (countedAt) return { kind: "count", amount, countedAt, ...status };
  return { kind, amount, ...status };
}

export const countedAtRule = `Field 'countedAt' must be a cursor of the feed, or an integer from 0 to ${seqMax}, and 'countedTime' a time in ISO 8601. 'countedAt' can only be used with 'quantity', and 'countedTime' with 'countedAt'.`;

function readCountedAt(sent: SentChange, fail: Fail): Change["countedAt"] {
  const { countedAt, countedTime, quantity, delta } = sent;
  if (countedAt === undefined && countedTime === undefined) return undefined;
  const seq = readQuantity(countedAt);
  const cursor = typeof countedAt === "string" ? parseCursor(countedAt) : undefined;
  // A number in quotes is no number, as in every other field.
  const found = seq === undefined ? cursor?.epoch && cursor : { seq };
  const time = typeof countedTime === "string" ? parseInstant(countedTime) : undefined;
  const isTimed = countedTime === undefined || time !== undefined;
  if (found && isTimed && quantity !== undefined && delta === undefined) return { ...found, time };
  throw fail(countedAtRule);
}

export const statusRule = `Field 'status' must be one of ${petStatuses.join(", ")}.`;

function readStatus(value: unknown, fail: Fail): Pick<Change, "status"> | undefined {
  if (value === undefined) return undefined;
  if (!isPetStatus(value)) throw fail(statusRule);
  return { status: value };
}

type Fail = (sentence: string) => ServiceError;

export function readExpected(
  { expectedVersion }: Pick<SentChange, "expectedVersion">,
  fail: Fail,
): Change["expected"] {
  if (expectedVersion === undefined) return undefined;
  const seq = readQuantity(expectedVersion);
  if (!seq) throw fail(`Field 'expectedVersion' ${versionRule}.`);
  return [{ seq }];
}

/** An empty reason is none. */
export function readReason({ reason }: Pick<SentChange, "reason">, fail: Fail): string | null {
  if (reason === undefined || reason === "") return null;
  if (typeof reason !== "string") throw fail("Field 'reason' must be a string.");
  if (!isReason(reason)) throw fail(`Field 'reason' ${reasonRule}.`);
  return reason;
}

/** A 64-bit integer as it was sent. */
export function readId(value: unknown): bigint | undefined {
  const id = value instanceof JsonNumber ? value.toInteger() : undefined;
  return typeof id === "bigint" && id >= int64Min && id <= int64Max ? id : undefined;
}

/**
 * The meaning of a batch as a text: the same for every way to write it. A status and the row of a count
 * are added only where there is one: stored digests of earlier requests must stay the same.
 */
export function canonicalText(changes: readonly Change[]): string {
  return JSON.stringify(
    changes.map(({ petId, kind, amount, expected, reason, status, countedAt }) => [
      `${petId}`,
      kind,
      amount,
      expected ? expected[0]!.seq : null,
      reason,
      ...(status === undefined ? [] : [status]),
      ...(countedAt === undefined ? [] : [countedAt]),
    ]),
  );
}

/** The fields of an AppliedChanges. */
export function appliedFields({ entries, before }: Pick<Stored, "entries" | "before">): string {
  const items = entries.map((entry, index) => versionedJson(entry, before?.[index]));
  return `${before ? '"dryRun":true,' : ""}"entries":[${items.join()}]`;
}

export function versionedJson({ petId, quantity, status, version }: Entry, before?: Stock): string {
  const earlier = before ? `,"before":${stockJson(before)}` : "";
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}","version":${version}${earlier}}`;
}
