import { orderStatuses } from "../catalogue/orders.ts";
import { type FieldKind, fieldRules, petFields } from "../catalogue/pet-fields.ts";
import { operatorPlan, roleScopes, scopes } from "../keys/keys.ts";
import { recordBytes } from "../ledger/idempotency.ts";
import { petStatuses, quantityMax } from "../ledger/inventory.ts";
import { causes } from "../ledger/ledger.ts";
import { plans } from "../limits/plans.ts";
import { steps } from "../usage/usage-history.ts";
import { int64Max, int64Min, parseInt64 } from "../values/int64.ts";
import { secretForm } from "../webhooks/secrets.ts";
import { webhookStates } from "../webhooks/webhook.ts";
import { type Faults, shown } from "./faults.ts";
import type { RowsOf, StoredRow } from "./store.ts";

const digestRule = "64 hexadecimal digits";

/** The values that one column allows, independent of the other columns. */
interface Column {
  readonly name: string;
  /** What the column allows, as a fault shows it. */
  readonly rule: string;
  readonly allows: (value: unknown) => boolean;
  /** Set if a fault must not show the value. */
  readonly isSecret?: boolean;
}

/**
 * The columns of each table, in the order in which a store returns them. Both engines enforce most
 * of these rules, but another program can disable constraints.
 */
const columns = {
  ledger: [
    integer("seq", 1),
    petId("petId"),
    optional(quantity("quantity before")),
    optional(quantity("quantity after")),
    optional(oneOf("status before", petStatuses)),
    optional(oneOf("status after", petStatuses)),
    optional(integer("previous", 1)),
    oneOf("cause", causes),
    optional(text("key")),
    optional(text("request")),
    optional(text("reason")),
    // Up to the last millisecond that a date can have.
    integer("at", 0, 8.64e15),
    optional(column("hash", "32 bytes", (value) => isBytes(value) && value.length === 32)),
  ],
  chain: [integer("id", 1, 1), integer("from_seq", 0), column("hash", digestRule, isDigest)],
  remembered_keys: [
    integer("seq", 1),
    integer("at", 0),
    column("records", `records of ${recordBytes} bytes`, areRecords),
  ],
  inventory: [
    petId("petId"),
    quantity("quantity"),
    oneOf("status", petStatuses),
    integer("version", 1),
  ],
  removed_pets: [petId("petId"), integer("version", 1)],
  pets: [petId("petId"), ...petFields.map(({ name, kind }) => detail(kind, name))],
  orders: [
    petId("id"),
    petId("petId"),
    quantity("quantity"),
    optional(integer("shipDate", Number.MIN_SAFE_INTEGER)),
    oneOf("status", orderStatuses),
    column(
      "complete",
      "0 or 1",
      (value) => value === 0n || value === 1n || value === 0 || value === 1,
    ),
  ],
  keys: [
    text("id"),
    text("name"),
    oneOf("plan", [...Object.keys(plans), operatorPlan]),
    integer("requests per minute", 1),
    integer("requests per day", 1),
    column("scopes", `some of ${scopes.join(", ")}`, areScopes),
    integer("created", 0),
    optional(integer("expires", 0)),
    optional(integer("revoked", 0)),
  ],
  secrets: [
    column("digest", digestRule, isDigest),
    text("key"),
    integer("created", 0),
    optional(integer("expires", 0)),
  ],
  usage: [
    text("key"),
    integer("minute's start", 0),
    integer("minute's count", 0),
    integer("day's start", 0),
    integer("day's count", 0),
    integer("last use", 0),
  ],
  usage_points: [
    column("key", "a text", (value) => typeof value === "string"),
    oneOf("step", steps),
    integer("start", 0),
    integer("admitted", 0),
    integer("refused", 0),
  ],
  epochs: [integer("number", 0), text("epoch"), integer("from_seq", 0)],
  audit: [
    integer("seq", 1),
    integer("at", 0),
    optional(text("key")),
    optional(text("request")),
    text("action"),
    optional(text("target")),
    column("details", "a JSON object", isObject),
  ],
  bans: [text("key"), integer("start", 0), integer("end", 0), optional(integer("lifted", 0))],
  webhooks: [
    text("id"),
    text("name"),
    text("url"),
    column("filter", "a JSON object of pets, statuses, causes, below and becomesLow", isFilter),
    secret("secret"),
    optional(secret("previous secret")),
    optional(integer("previous secret's end", 0)),
    integer("created", 0),
    oneOf("state", webhookStates),
    optional(text("reason")),
    integer("version", 0),
    integer("replays", 0),
    text("cursor's epoch"),
    integer("cursor's seq", 0),
    integer("failures", 0),
    optional(integer("failing since", 0)),
    integer("next attempt", 0),
  ],
} satisfies Record<string, readonly Column[]>;

type TableName = keyof typeof columns;

/** How faults name a row of each table. */
const labels: Readonly<Record<TableName, (row: StoredRow) => string>> = {
  ledger: ([seq]) => `ledger row ${seq}`,
  chain: () => "the chain",
  remembered_keys: ([seq]) => `keys of ledger row ${seq}`,
  inventory: ([petId]) => `entry of pet ${petId}`,
  removed_pets: ([petId]) => `removal of pet ${petId}`,
  pets: ([petId]) => `pet ${petId}`,
  orders: ([id]) => `order ${id}`,
  keys: ([id]) => `key ${id}`,
  // Eight digits identify a secret, and a whole digest does not fit on a line.
  secrets: ([digest]) => `secret ${String(digest).slice(0, 8)}…`,
  usage: ([keyId]) => `usage of key ${keyId}`,
  usage_points: ([keyId, step, start]) => `usage of key ${keyId}, ${step} ${start}`,
  epochs: ([number]) => `epoch ${number}`,
  audit: ([seq]) => `audit row ${seq}`,
  bans: ([keyId]) => `ban of key ${keyId}`,
  webhooks: ([id]) => `webhook ${id}`,
};

/** Records a fault of the row that is being checked. */
export type Note = (found: string, expected: string) => void;

/** The tables that are checked, and where their faults are noted. */
export interface Tables {
  readonly rowsOf: RowsOf;
  readonly faults: Faults;
}

/** Checks the values of one row at a time. Returns a function that records other faults of the row. */
export function createRowCheck({ faults }: Tables, table: TableName) {
  const expected: readonly Column[] = columns[table];
  let current: StoredRow = [];
  const note: Note = (found, rule) => faults.note(labels[table](current), found, rule);
  return (row: StoredRow): Note => {
    current = row;
    for (let at = 0; at < expected.length; at++) {
      const { name, rule, allows, isSecret } = expected[at]!;
      if (allows(row[at])) continue;
      note(`${name} is ${isSecret ? "something else" : shown(row[at])}`, rule);
    }
    return note;
  };
}

/** Whether a row of a store has only values that its columns allow. */
export const isAllowed = (table: string, row: StoredRow): boolean =>
  columns[table as TableName].every(({ allows }, at) => allows(row[at]));

/** Checks every row of a table, and returns their number. */
export async function checkRows(
  tables: Tables,
  table: TableName,
  check: (row: StoredRow, note: Note) => void,
): Promise<number> {
  const begin = createRowCheck(tables, table);
  let count = 0;
  for await (const batch of tables.rowsOf(table)) {
    for (const row of batch) check(row, begin(row));
    count += batch.length;
  }
  return count;
}

function column(name: string, rule: string, allows: Column["allows"]): Column {
  return { name, rule: rule.replace(/^must be /, ""), allows };
}

function optional({ name, rule, allows, ...rest }: Column): Column {
  return {
    ...column(name, `${rule}, or null`, (value) => value === null || allows(value)),
    ...rest,
  };
}

/** The secret of a webhook. */
function secret(name: string): Column {
  const allows = (value: unknown) => typeof value === "string" && secretForm.test(value);
  return { ...column(name, "whsec_ and base64", allows), isSecret: true };
}

/** Engines return 64-bit integers as bigints. Those used as numbers must be exact. */
function integer(name: string, from: number, to = Number.MAX_SAFE_INTEGER): Column {
  return column(name, `an integer from ${from} to ${to}`, (value) => {
    const number = typeof value === "bigint" ? Number(value) : value;
    return Number.isSafeInteger(number) && (number as number) >= from && (number as number) <= to;
  });
}

function quantity(name: string): Column {
  return integer(name, 0, quantityMax);
}

function petId(name: string): Column {
  const allows = (value: unknown) =>
    typeof value === "bigint" && value >= int64Min && value <= int64Max;
  return column(name, "a 64-bit integer", allows);
}

function text(name: string): Column {
  return column(name, "a text", (value) => typeof value === "string" && value !== "");
}

function oneOf(name: string, values: readonly string[]): Column {
  const allowed = new Set<unknown>(values);
  return column(name, `one of ${values.join(", ")}`, (value) => allowed.has(value));
}

/** A field of a pet. */
function detail(kind: FieldKind, name: string): Column {
  const { text: rule, read } = fieldRules[kind];
  if (kind === "texts") return column(name, `a JSON array: ${rule}`, isList);
  if (kind === "optionalInteger") return optional(quantity(name));
  const given = column(name, rule, (value) => read(value) !== undefined);
  return kind === "text" ? given : optional(given);
}

function isList(value: unknown): boolean {
  if (value === "[]") return true;
  try {
    return fieldRules.texts.read(JSON.parse(value as string)) !== undefined;
  } catch {
    return false;
  }
}

function areScopes(value: unknown): boolean {
  if (typeof value !== "string") return false;
  if (Object.values<string>(roleScopes).includes(value)) return true;
  return value.split(" ").every((name) => (scopes as readonly string[]).includes(name));
}

function isObject(value: unknown): boolean {
  try {
    return Object.getPrototypeOf(JSON.parse(value as string)) === Object.prototype;
  } catch {
    return false;
  }
}

function isDigest(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isFilter(value: unknown): boolean {
  try {
    const { becomesLow = false, ...others } = JSON.parse(value as string);
    const { pets, statuses, causes: wanted, below, ...rest } = others;
    return (
      Object.keys(rest).length === 0 &&
      isNullOrListOf(pets, (one) => typeof one === "string" && parseInt64(one) !== undefined) &&
      isNullOrListOf(statuses, (one) => petStatuses.includes(one as never)) &&
      isNullOrListOf(wanted, (one) => causes.includes(one as never)) &&
      typeof becomesLow === "boolean" &&
      (below === null || (Number.isSafeInteger(below) && below >= 0))
    );
  } catch {
    return false;
  }
}

function isNullOrListOf(value: unknown, allows: (one: unknown) => boolean): boolean {
  return value === null || (Array.isArray(value) && value.every(allows));
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

function areRecords(value: unknown): boolean {
  return isBytes(value) && value.length > 0 && value.length % recordBytes === 0;
}
