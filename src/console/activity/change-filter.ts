import type { LedgerRow } from "../client/types.ts";
import { isCause } from "../parts/origins.ts";

/** Which changes to show. An empty text means any. */
export interface ChangeFilter {
  readonly petId: string;
  readonly keyId: string;
  readonly cause: string;
  /** Times as in the API. Changes at `since` are included, changes at `until` are not. */
  readonly since: string;
  readonly until: string;
  readonly requestId: string;
  /** The session of an assistant. */
  readonly session: string;
}

export const noFilter = {
  petId: "",
  keyId: "",
  cause: "",
  since: "",
  until: "",
  requestId: "",
  session: "",
} satisfies ChangeFilter;

export const isPetId = (text: string) => /^-?\d{1,19}$/.test(text);
const isTime = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);

/** The query parameter of each field in an address, and whether a value is valid there. */
const rules: Record<keyof ChangeFilter, readonly [string, (text: string) => boolean]> = {
  petId: ["pet", isPetId],
  keyId: ["key", (text) => /^key_\w+$/.test(text)],
  cause: ["cause", isCause],
  since: ["since", isTime],
  until: ["until", isTime],
  requestId: ["request", (text) => /^[\w-]{1,64}$/.test(text)],
  session: ["session", (text) => /^ses(_[0-9A-Za-z]+){3}$/.test(text)],
};
const fields = Object.keys(rules) as (keyof ChangeFilter)[];

/** Reads the filter of an address. What is not valid is left out. */
export function readFilter(query: URLSearchParams): ChangeFilter {
  const filter = { ...noFilter };
  for (const field of fields) {
    const [name, isValid] = rules[field];
    const text = query.get(name) ?? "";
    if (isValid(text)) filter[field] = text;
  }
  return filter;
}

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
