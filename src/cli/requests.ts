import { getKey } from "../domain/keys/lifecycle.ts";
import { refusedRowJson } from "../domain/requests/outcomes.ts";
import {
  keptInTotal,
  type RefusedRow,
  type RequestFilter,
  type RequestStore,
  withoutKey,
} from "../domain/requests/store.ts";
import { errorCodes, InvalidField } from "../domain/running/errors.ts";
import { jsonLines } from "./command.ts";
import { parseInteger } from "./flags.ts";
import { follow, untilSignal } from "./follow.ts";
import { storeCommand } from "./store-command.ts";
import { type Listing, onePage, printRows } from "./table.ts";

const rowsDefault = "20";

/** Prints the last requests that got an error, the newest last, as a terminal shows a log. */
export const requestsCommand = storeCommand({
  name: "requests",
  summary: "Shows the last requests to the API that were refused or failed, and why.",
  examples: [
    "petstore requests --key key_9aXpR2tQvB6yHcEw3jGk5M",
    "petstore requests --code rate_limit_exceeded --follow",
  ],
  flags: {
    key: {
      placeholder: "ID",
      description: `Only requests of this key. \`${withoutKey}\`: only those without a known key.`,
    },
    code: { placeholder: "CODE", description: "Only requests with this error code." },
    limit: {
      placeholder: "N",
      description: `Maximum number of requests. Default: ${rowsDefault}.`,
    },
    follow: { description: "Keep running, and show new requests within about a second." },
    json: jsonLines,
  },
  async run({ flags, store }) {
    const { key: keyId, code } = flags;
    if (code !== undefined && !errorCodes.some((known) => known === code)) {
      throw new InvalidField("code", `must be one of ${errorCodes.join(", ")}`);
    }
    if (keyId !== undefined && keyId !== withoutKey) await getKey(store, keyId);
    const limit = parseInteger("--limit", flags.limit ?? rowsDefault, 1);
    const readNew = createReader(store.requests, { keyId, code }, limit);
    const pages = flags.follow ? follow(readNew, untilSignal()) : onePage(await readNew());
    await printRows(pages, listing, flags.json);
  },
});

/** Returns a function that reads the last rows, and then those that were added since its last call. */
function createReader(
  requests: Pick<RequestStore, "listRequests">,
  filter: RequestFilter,
  limit: number,
) {
  let last: number | undefined;
  return async (): Promise<readonly RefusedRow[]> => {
    const rowsMax = last === undefined ? limit : keptInTotal;
    const rows = await requests.listRequests({ ...filter, after: last }, rowsMax);
    last = rows[0]?.seq ?? last ?? 0;
    return rows.toReversed();
  };
}

const listing: Listing<RefusedRow> = {
  columns: [
    { title: "at", align: "left", cell: ({ at }) => new Date(at).toISOString() },
    { title: "key", align: "left", cell: ({ keyName, keyId }) => keyName ?? keyId ?? "-" },
    { title: "status", align: "right", cell: ({ status }) => String(status) },
    { title: "code", align: "left", cell: ({ code }) => code },
    { title: "request", align: "left", cell: ({ method, path }) => `${method} ${path}` },
    { title: "id", align: "left", cell: ({ requestId }) => requestId },
    { title: "ms", align: "right", cell: ({ durationMs }) => String(durationMs) },
    { title: "message", align: "left", cell: ({ message }) => message },
  ],
  toJson: (row) => JSON.stringify(refusedRowJson(row)),
};
