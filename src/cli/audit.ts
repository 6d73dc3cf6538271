import { type AuditRow, listAudit } from "../domain/audit/audit.ts";
import { jsonLines } from "./command.ts";
import { parseInteger } from "./flags.ts";
import { storeCommand } from "./store-command.ts";
import { type Listing, pagesOf, printRows } from "./table.ts";

const auditRowsDefault = "20";

/** Prints the audit log, the newest row first. */
export const auditCommand = storeCommand({
  name: "audit",
  summary: "Shows the audit log, the newest first: who changed keys, webhooks, pets and orders.",
  examples: ["petstore audit", "petstore audit --limit 100 --json"],
  flags: {
    limit: {
      placeholder: "N",
      description: `Maximum number of rows. Default: ${auditRowsDefault}.`,
    },
    json: jsonLines,
  },
  async run({ flags, store }) {
    const limit = parseInteger("--limit", flags.limit ?? auditRowsDefault, 1);
    const pages = pagesOf((before, rows) => listAudit(store, { before }, rows), undefined, limit);
    await printRows(pages, auditListing, flags.json);
  },
});

const auditListing: Listing<AuditRow> = {
  columns: [
    { title: "seq", align: "right", cell: ({ seq }) => String(seq) },
    { title: "at", align: "left", cell: ({ at }) => new Date(at).toISOString() },
    // A change without a key was made by a command.
    { title: "who", align: "left", cell: ({ keyName, keyId }) => keyName ?? keyId ?? "command" },
    { title: "action", align: "left", cell: ({ action }) => action },
    { title: "target", align: "left", cell: ({ target }) => target ?? "-" },
    { title: "details", align: "left", cell: ({ details }) => detailsText(details) },
  ],
  toJson: ({ seq, at, keyId, keyName, requestId, action, target, details }) => {
    const time = new Date(at).toISOString();
    return JSON.stringify({ seq, at: time, keyId, keyName, requestId, action, target, details });
  },
};

function detailsText(details: AuditRow["details"]): string {
  return Object.entries(details)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
