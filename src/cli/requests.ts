import { getKey } from "../domain/keys/lifecycle.ts";
import { refusedRowJson } from "../domain/requests/outcomes.ts";
import { keptInTotal, type RefusedRow, withoutKey } from "../domain/requests/store.ts";
import { errorCodes, InvalidField } from "../domain/running/errors.ts";
import { once } from "../domain/values/once.ts";
import { jsonLines } from "./command.ts";
import { follow, untilSignal } from "./follow.ts";
import { storeCommand } from "./store-command.ts";
import { cut, type Listing, printRows } from "./table.ts";

/** Prints the requests that got an error, the newest last. With --follow, prints new ones until it is stopped. */
export const requestsCommand = storeCommand({
  name: "requests",
  summary: "Shows requests to the API that were refused or failed, and why, the newest last.",
  examples: [
    "petstore requests --key key_9aXpR2tQvB6yHcEw3jGk5M",
    "petstore requests --code rate_limit_exceeded --follow",
  ],
  flags: {
    key: {
      placeholder: "ID",
      description: `Only requests of this key. ${withoutKey}: only those without a known key.`,
    },
    code: { placeholder: "CODE", description: "Only requests with this error code." },
    follow: { description: "Keep running, and show new requests within about a second." },
    json: jsonLines,
  },
  async run({ flags, store }) {
    const { key: keyId, code } = flags;
    if (code !== undefined && !errorCodes.some((known) => known === code)) {
      throw new InvalidField("code", `must be one of ${errorCodes.join(", ")}`);
    }
    if (keyId !== undefined && keyId !== withoutKey) await getKey(store, keyId);
    let after = 0;
    const readNew = async () => {
      const rows = await store.requests.listRequests({ keyId, code, after }, keptInTotal);
      after = rows[0]?.seq ?? after;
      return rows.toReversed();
    };
    const pages = flags.follow ? follow(readNew, untilSignal()) : once(await readNew());
    await printRows(pages, listing, flags.json);
  },
});

/** A path is as long as a client likes. `--json` shows all of it. */
const requestText = ({ error: { method, path } }: RefusedRow) => cut(`${method} ${path}`, 40);

const listing: Listing<RefusedRow> = {
  columns: [
    { title: "at", align: "left", cell: ({ error }) => error.at },
    { title: "key", align: "left", cell: ({ keyName, keyId }) => keyName ?? keyId ?? "-" },
    { title: "request", align: "left", cell: requestText },
    { title: "id", align: "left", cell: ({ requestId }) => requestId },
    { title: "ms", align: "right", cell: ({ error }) => String(error.durationMs) },
    { title: "status", align: "right", cell: ({ error }) => String(error.status) },
    { title: "code", align: "left", cell: ({ error }) => error.code },
    { title: "message", align: "left", cell: ({ error }) => error.message, isWhole: true },
  ],
  toJson: refusedRowJson,
};
