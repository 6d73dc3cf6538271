import { yieldToEventLoop } from "../../domain/running/background.ts";
import { exactJson } from "../../domain/values/json.ts";
import type { Fields } from "../messages/fields.ts";
import { queryOf } from "../messages/fields.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";

/** One page of a list. */
export interface ListPage {
  /** Each as JSON. */
  readonly items: readonly string[];
  /** The parameter that selects the next page. Undefined if this is the last one. */
  readonly next?: Readonly<Record<string, number | bigint>> | undefined;
}

/** Reads a page. `limit` is the number of items, if it is not one of the fields. */
export type ReadPage = (
  context: Context,
  call: Call,
  fields: Fields,
  limit: number,
) => Promise<ListPage>;

/** The parameter of the next page, if there is one. */
export function nextPage(name: "after" | "before", value: number | bigint | undefined) {
  return value === undefined ? {} : { next: { [name]: value } };
}

/** Replies with one page. The next page has the parameters of this one, except for those that select it. */
export function pageReply(
  { request, operation }: Call,
  { items, next }: ListPage,
  query = queryOf(request),
): Reply {
  const body = `[${items.join()}]`;
  if (!next) return { status: 200, body };
  for (const [name, value] of Object.entries(next)) {
    query.delete(name);
    query.append(name, String(value));
  }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => request.params![name]!);
  return {
    status: 200,
    body,
    headers: { Link: `<${operation.basePath}${path}?${query}>; rel="next"` },
  };
}

/** Pets in typed arrays, by ascending id. */
interface PetColumns {
  readonly count: number;
  readonly petIds: BigInt64Array;
}

/** The first pets with a larger id than `after`. */
export async function pageOfPets<T extends PetColumns>(
  slices: AsyncIterable<T>,
  after: bigint | undefined,
  limit: number,
  rowAt: (slice: T, index: number) => object,
): Promise<ListPage> {
  const rows: { readonly petId: bigint }[] = [];
  for await (const slice of slices) {
    const { count, petIds } = slice;
    // Most slices end before a deep page.
    const isPassed = after !== undefined && petIds[count - 1]! <= after;
    for (let index = isPassed ? count : 0; index < count && rows.length <= limit; index++) {
      const petId = petIds[index]!;
      if (after === undefined || petId > after) rows.push({ petId, ...rowAt(slice, index) });
    }
    if (rows.length > limit) break;
    await yieldToEventLoop();
  }
  return petPage(rows, limit);
}

/** The first rows. `readUpTo` is the id up to which a search got, if it did not end. */
export function petPage(
  rows: readonly { readonly petId: bigint }[],
  limit: number,
  readUpTo?: bigint,
): ListPage {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1)!.petId : readUpTo;
  return { items: shown.map(exactJson), ...nextPage("after", last) };
}
