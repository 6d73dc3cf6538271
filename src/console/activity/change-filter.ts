import type { LedgerRow } from "../client/types.ts";

/** Which changes to show. An empty text means any. */
export interface ChangeFilter {
  readonly petId: string;
  readonly keyId: string;
  readonly cause: string;
  /** Times as in the API. Changes at `since` are included, changes at `until` are not. */
  readonly since: string;
  readonly until: string;
}

export const noFilter: ChangeFilter = { petId: "", keyId: "", cause: "", since: "", until: "" };

/** What the causes of changes are called. */
export const causeNames: Readonly<Record<string, string>> = {
  api: "API",
  console: "Console",
  import: "Import",
  undo: "Undo",
};

const names = {
  petId: "pet",
  keyId: "key",
  cause: "cause",
  since: "since",
  until: "until",
} as const;
const fields = Object.keys(names) as (keyof ChangeFilter)[];

/** Reads the filter of an address. What is not valid is left out. */
export function readFilter(query: URLSearchParams): ChangeFilter {
  const rules: Record<keyof ChangeFilter, RegExp> = {
    petId: /^-?\d{1,19}$/,
    keyId: /^key_\w+$/,
    cause: /^(api|console|import|undo)$/,
    since: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    until: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  };
  const read = (field: keyof ChangeFilter) => {
    const text = query.get(names[field]) ?? "";
    return rules[field].test(text) ? text : "";
  };
  return {
    petId: read("petId"),
    keyId: read("keyId"),
    cause: read("cause"),
    since: read("since"),
    until: read("until"),
  };
}

/** The filter as the query of an address: empty, or with a question mark before it. */
export function filterQuery(filter: ChangeFilter): string {
  const query = new URLSearchParams();
  for (const field of fields) if (filter[field] !== "") query.set(names[field], filter[field]);
  return query.size === 0 ? "" : `?${query}`;
}

export function isFiltered(filter: ChangeFilter): boolean {
  return fields.some((field) => filter[field] !== "");
}

export function matchesFilter(filter: ChangeFilter, row: LedgerRow): boolean {
  const { petId, keyId, cause, since, until } = filter;
  const at = Date.parse(row.at);
  return (
    (petId === "" || row.petId === petId) &&
    (keyId === "" || row.keyId === keyId) &&
    (cause === "" || row.cause === cause) &&
    (since === "" || at >= Date.parse(since)) &&
    (until === "" || at < Date.parse(until))
  );
}
