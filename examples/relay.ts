/**
 * Lets browser pages follow the stock without an API key. Pages connect to this program with
 * EventSource, and only this program has the key. It follows the feed once, however many pages are open,
 * and passes on only what a page may see.
 *
 * A page gets the whole stock first, then each change. After a lost connection, the browser sends the id
 * of its last event, and gets what it missed. Ids are cursors of the service, so this still works after
 * this program or the service was killed.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PetstoreClient, type Stock } from "petstore-inventory-client";

const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});
/** A page that missed more changes than this gets the whole stock again. */
const recentMax = 1_000;
/** A page for which more bytes wait, besides the stock, is cut off. It connects again and continues. */
const waitingBytesMax = 10_000_000;
let stockBytes = 0;

const stock = new Map<bigint, Stock>();
/** The last events, oldest first. A page that has one of them gets those after it. */
let recent: { readonly id: string; readonly text: string }[] = [];
const pages = new Set<ServerResponse>();

/** Data is one line of JSON. Ids are texts there, because a page rounds numbers above 2^53. */
function eventText(type: string, id: string, data: unknown): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function stockText(): string {
  const entries = [...stock].map(([petId, entry]) => ({ petId: String(petId), ...entry }));
  const text = eventText("stock", recent.at(-1)!.id, entries);
  stockBytes = text.length;
  return text;
}

/** What a page gets first: the events after its last one, or the whole stock. */
function textSince(lastId: string | string[] | undefined): string {
  const at = recent.findIndex(({ id }) => id === lastId);
  const missed = recent.slice(at + 1).map(({ text }) => text);
  return at < 0 ? stockText() : missed.join("");
}

function send(page: ServerResponse, text: string): void {
  if (page.writableLength > waitingBytesMax + stockBytes) page.destroy();
  else page.write(text);
}

async function follow(onReady: () => void): Promise<void> {
  // Begins in the past, so that pages can continue after a restart of this program.
  const { seq: end } = await client.ledgerHead();
  let isReady = false;
  for await (const event of client.watch({ after: Math.max(0, end - recentMax) })) {
    if (event.type === "change") {
      const { seq, petId, after } = event.change;
      // Not the reason or the name of the key: they are not for everyone.
      const entry = after && { quantity: after.quantity, status: after.status };
      if (entry === null) stock.delete(petId);
      else stock.set(petId, entry);
      const text = eventText("change", event.cursor, { seq, petId: String(petId), ...entry });
      recent.push({ id: event.cursor, text });
      if (recent.length > 2 * recentMax) recent = recent.slice(-recentMax);
      for (const page of pages) send(page, text);
    } else {
      // The start, or a reset: the service has another history, as after a restore from a backup.
      const items = await client.snapshot(event.seq);
      stock.clear();
      for (const { petId, quantity, status } of items) stock.set(petId, { quantity, status });
      recent = [{ id: event.cursor, text: "" }];
      const text = stockText();
      for (const page of pages) send(page, text);
    }
    const position = event.type === "change" ? event.change.seq : event.seq;
    if (!isReady && (position >= end || event.type === "reset")) {
      isReady = true;
      onReady();
    }
  }
}

function respond(request: IncomingMessage, response: ServerResponse): void {
  // Check here who asks, for example by the cookie of your shop.
  if (request.url === "/") {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(readFileSync(new URL("relay.html", import.meta.url)));
  } else if (request.url === "/changes") {
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
    });
    response.on("close", () => pages.delete(response));
    pages.add(response);
    send(response, `retry: 1000\n\n${textSince(request.headers["last-event-id"])}`);
  } else {
    response.writeHead(404).end();
  }
}

// Proxies close a connection on which nothing comes for long.
setInterval(() => {
  for (const page of pages) send(page, ": still here\n\n");
}, 15_000);

const server = createServer(respond);
await follow(() => {
  server.listen(Number(process.env.PORT ?? 9001), "127.0.0.1", () => {
    console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
});
