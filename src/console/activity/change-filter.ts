import type { LedgerRow } from "../client/types.ts";
import { isCause } from "../parts/origins.ts";

export const isPetId = (text: string) => /^-?\d{1,19}$/.test(text);
const isTime = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);

/** The query parameter of each field in an address, and whether a value is valid there. */
const rules = {
  petId: ["pet", isPetId],
  keyId: ["key", (text) => /^key_\w+$/.test(text)],
  cause: ["cause", isCause],
  since: ["since", isTime],
  until: ["until", isTime],
  requestId: ["request", (text) => /^[\w-]{1,64}$/.test(text)],
  // The session of an assistant.
  session: ["session", (text) => /^ses(_[0-9A-Za-z]+){3}$/.test(text)],
} satisfies Record<string, readonly [name: string, isValid: (text: string) => boolean]>;

/**
 * Which changes to show. An empty text means any. Times are those of the API: changes at `since` are included,
 * changes at `until` are not.
 */
export type ChangeFilter = Readonly<Record<keyof typeof rules, string>>;
const fields = Object.keys(rules) as (keyof ChangeFilter)[];

/** Reads the filter of an address. What is not valid is left out. */
export function readFilter(query: URLSearchParams): ChangeFilter {
  const values = fields.map((field) => {
    const [name, isValid] = rules[field];
    const text = query.get(name) ?? "";
    return [field, isValid(text) ? text : ""];
  });
  return Object.fromEntries(values);
}

export const noFilter = readFilter(new URLSearchParams());

/** The filter as the query of an address: empty, or with a question mark before it. */
export function filterQuery(filter: ChangeFilter): string {
  const query = new URLSearchParams();
  for (const field of fields) if (filter[field] !== "") query.set(rules[field][0], filter[field]);
  return query.size === 0 ? "" : `?${query}`;
}

/** The session of an assistant with which the reason of a change ends, if its key is that of the change. */
export function sessionOf(row?: LedgerRow): string | undefined {
  const [, session, key] = / \[(ses_([0-9A-Za-z]+)_\w+)\]$/.exec(row?.reason ?? "") ?? [];
  return row?.keyId === `key_${key}` ? session : undefined;
}

export function isFiltered(filter: ChangeFilter): boolean {
  return fields.some((field) => filter[field] !== "");
}

export function matchesFilter(filter: ChangeFilter, row: LedgerRow): boolean {
  const { petId, keyId, cause, since, until, requestId, session } = filter;
  const at = Date.parse(row.at);
  return (
    (petId === "" || row.petId === petId) &&
    (keyId === "" || row.keyId === keyId) &&
    (cause === "" || row.cause === cause) &&
    (requestId === "" || row.requestId === requestId) &&
    (session === "" || sessionOf(row) === session) &&
    (since === "" || at >= Date.parse(since)) &&
    (until === "" || at < Date.parse(until))
  );
}

/** The address of all changes of a request. The end of the period tells where in the ledger they are. */
export function requestPath({ requestId, at }: LedgerRow): string {
  const until = new Date(Date.parse(at) + 1).toISOString();
  return `/activity?${new URLSearchParams({ request: requestId!, until })}`;
}
