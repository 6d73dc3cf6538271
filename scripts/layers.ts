/**
 * The rooms of each layer, from the bottom up. A file imports only from its own room and from rooms
 * earlier in the list. The room `*.ts` is every file of the layer that the list does not name.
 * `test/architecture.test.ts` checks this, and `scripts/doc-tables.ts` draws the list in
 * ARCHITECTURE.md.
 */
export const rooms: Readonly<
  Record<string, readonly (readonly [room: string, contents: string])[]>
> = {
  "src/domain/": [
    ["running", "errors, log events, background work, the clock"],
    ["values", "numbers, times, texts and JSON, parsed and written"],
    ["ledger", "entries, rows, hashes, epochs and cursors, idempotency keys, the head"],
    ["commits", "units queued and grouped into transactions"],
    ["inventory", "a copy of the inventory that follows the ledger"],
    ["snapshots", "the inventory at a moment, and checkpoints"],
    ["audit", "who changed what, apart from stock"],
    ["history", "the rows of a pet, and undo"],
    ["limits", "plans, windows and bans"],
    ["usage", "request counts, now and over time"],
    ["sales", "units sold per day, and low stock"],
    ["keys", "API keys, operator keys and sessions"],
    ["requests", "requests that got an error, and what became of a request"],
    ["catalogue", "pets, orders and their import"],
    ["webhooks", "webhooks and their deliveries"],
    ["operations", "backups, and what operators should look at"],
    ["verification", "checks of a whole store"],
    ["store.ts", "everything that a store keeps"],
    ["shop", "the use cases that change stock and pets"],
  ],
  "src/store/sqlite/": [
    ["schema.ts", "the tables"],
    ["creation.ts", "creates the tables, and checks that a store fits"],
    ["engine", "files, locks, connections, recovery, damage"],
    ["*.ts", "the SQL, one file per noun"],
    ["writing", "the connection that writes, on its thread"],
    ["ports.ts", "the ports of the store"],
    ["store.ts", "opens a store"],
  ],
  "src/store/postgres/": [
    ["engine", "connections, the primary, transactions, parameters"],
    ["*.ts", "the SQL, one file per noun"],
    ["store.ts", "the ports of the store"],
  ],
  "src/http/": [
    ["messages", "requests and responses: bodies, headers, tags, encodings, errors"],
    ["list", "the list as bytes, kept up to date"],
    ["snapshots", "the inventory at a moment, as a long response"],
    ["feed", "changes as streams of events"],
    ["pipeline", "operations, routes, and the steps that every request takes"],
    ["pages", "files and pages served besides the operations"],
    ["api", "the operations of the API, and its description"],
    ["admin", "the operations of the operator API, and its description"],
    ["mcp", "the tools of assistants, and their protocol"],
    ["docs", "the page at `/docs`"],
    ["console", "the files of the console"],
    ["tls", "certificates, and the listener for TLS"],
    ["server", "Bun's server, and the server of the metrics"],
  ],
  "src/console/": [
    ["texts", "numbers, times and words, as people read them"],
    ["client", "the operator API: requests, the session, live changes, names of pets"],
    ["page", "the address, the theme, short messages"],
    ["parts", "dialogs, fields, tables and icons that views share"],
    ["charts", "bar and step charts over time"],
    ["audit", "the view of the audit log"],
    ["stock", "the view of all entries: search, edit, count"],
    ["activity", "the view of the ledger, and undo"],
    ["history", "the view of one pet, and of a moment"],
    ["overview", "the first view"],
    ["import", "the view that imports and exports files"],
    ["orders", "the view of orders"],
    ["keys", "the view of keys"],
    ["webhooks", "the view of webhooks"],
    ["backups", "the view of backups"],
    ["frame", "the sign-in, the navigation and the table of views"],
    ["main.tsx", "starts the page"],
  ],
};

/** The layers of the service as a drawing, the highest room first. */
export function drawRooms(): string {
  return Object.entries(rooms)
    .map(([folder, list]) => {
      const width = Math.max(...list.map(([room]) => room.length));
      const lines = list
        .toReversed()
        .map(([room, contents]) => `  ${room.padEnd(width)}  ${contents}`);
      return [folder, ...lines].join("\n");
    })
    .join("\n\n");
}
