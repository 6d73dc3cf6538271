import type { Entry, Stock } from "../domain/ledger/inventory.ts";
import { stockJson } from "../domain/ledger/ledger.ts";
import { type Moment, momentRule, parseMoment, resolveMoments } from "../domain/ledger/moments.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { entriesOf } from "../domain/snapshots/columns.ts";
import { type DifferenceColumns, stocksAt } from "../domain/snapshots/differences.ts";
import { differencesBetween, inventoryAt } from "../domain/snapshots/snapshots.ts";
import { systemClock } from "../engines.ts";
import type { Json } from "./command.ts";
import { petColumn, stockColumns } from "./ledger-rows.ts";
import { type Listing, printRows } from "./table.ts";
import type { StoreInput } from "./with-store.ts";

/** Prints the whole inventory as of a moment. */
export async function printSnapshot({
  flags,
  operands: [text],
  store,
}: StoreInput<Json, readonly [moment: string]>) {
  const [at] = await resolveMoments(store, systemClock, [readMoment("MOMENT", text)]);
  const entries = mapped(await inventoryAt(store, at!), entriesOf);
  await printRows(entries, entryListing, flags.json);
  return 0;
}

/** Prints the pets whose stock differs between two moments. */
export async function printDiff({
  flags,
  operands: [fromText, toText],
  store,
}: StoreInput<Json, readonly [from: string, to: string]>) {
  const moments = [readMoment("FROM", fromText), readMoment("TO", toText)];
  const [from, to] = await resolveMoments(store, systemClock, moments);
  const differences = mapped(await differencesBetween(store, from!, to!), differencesOf);
  await printRows(differences, differenceListing, flags.json);
  return 0;
}

function readMoment(operand: string, text: string): Moment {
  const moment = parseMoment(text);
  if (moment) return moment;
  throw new ServiceError("invalid_request", `${operand} ${momentRule}, not '${text}'`);
}

const entryListing: Listing<Entry> = {
  columns: [
    petColumn(),
    { title: "quantity", align: "right", cell: ({ quantity }) => String(quantity) },
    { title: "status", align: "left", cell: ({ status }) => status },
  ],
  toJson: ({ petId, quantity, status }) =>
    `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
};

interface Difference {
  readonly petId: bigint;
  readonly before: Stock | null;
  readonly after: Stock | null;
}

function differencesOf(columns: DifferenceColumns): readonly Difference[] {
  return Array.from({ length: columns.count }, (_, index) => ({
    petId: columns.petIds[index]!,
    ...stocksAt(columns, index),
  }));
}

const differenceListing: Listing<Difference> = {
  columns: [
    petColumn(),
    ...stockColumns<Difference>("before", ({ before }) => before),
    ...stockColumns<Difference>("after", ({ after }) => after),
  ],
  toJson: ({ petId, before, after }) =>
    `{"petId":${petId},"before":${stockJson(before)},"after":${stockJson(after)}}`,
};

async function* mapped<A, B>(
  slices: AsyncIterable<A>,
  toRows: (slice: A) => readonly B[],
): AsyncGenerator<readonly B[]> {
  for await (const slice of slices) yield toRows(slice);
}
