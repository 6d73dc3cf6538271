import type { Entry, Stock } from "../domain/ledger/inventory.ts";
import { stockJson } from "../domain/ledger/ledger.ts";
import { type Moment, momentRule, parseMoment, resolveMoments } from "../domain/ledger/moments.ts";
import { invalidRequest } from "../domain/running/errors.ts";
import { entriesOf } from "../domain/snapshots/columns.ts";
import { type DifferenceColumns, stocksAt } from "../domain/snapshots/differences.ts";
import { differencesBetween, inventoryAt } from "../domain/snapshots/snapshots.ts";
import { jsonLines } from "./command.ts";
import { petColumn, stockColumns } from "./ledger-rows.ts";
import { storeCommand } from "./store-command.ts";
import { type Listing, printRows } from "./table.ts";

const moment = "Number of a ledger row, or a time such as 2026-11-15T10:00:00Z.";

/** Prints the whole inventory as of a moment. */
export const snapshotCommand = storeCommand({
  name: "snapshot",
  summary: "Shows the whole inventory as of a moment.",
  examples: ["petstore snapshot 2026-11-15T10:00:00Z", "petstore snapshot 1200 --json"],
  operands: [{ name: "MOMENT", description: moment }],
  flags: { json: jsonLines },
  async run({ flags, operands: [text], store }) {
    const [at] = await resolveMoments(store, [readMoment("MOMENT", text)]);
    const entries = mapped(await inventoryAt(store, at!), entriesOf);
    await printRows(entries, entryListing, flags.json);
  },
});

/** Prints the pets whose stock differs between two moments. */
export const diffCommand = storeCommand({
  name: "diff",
  summary: "Shows the pets whose stock differs between two moments.",
  examples: ["petstore diff 2026-11-14T00:00:00Z 2026-11-15T00:00:00Z"],
  operands: [
    { name: "FROM", description: moment },
    { name: "TO", description: "The other moment. It may be earlier than FROM." },
  ],
  flags: { json: jsonLines },
  async run({ flags, operands: [fromText, toText], store }) {
    const moments = [readMoment("FROM", fromText), readMoment("TO", toText)];
    const [from, to] = await resolveMoments(store, moments);
    const differences = mapped(await differencesBetween(store, from!, to!), differencesOf);
    await printRows(differences, differenceListing, flags.json);
  },
});

/** `operand` is the operand or the flag that names the moment. */
export function readMoment(operand: string, text: string): Moment {
  const moment = parseMoment(text);
  if (moment) return moment;
  throw invalidRequest(`${operand} ${momentRule}, not '${text}'`);
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
