import { yieldToEventLoop } from "../../domain/running/background.ts";
import { type Content, exportText, orderContent, petContent } from "../../files/exports.ts";
import type { Format } from "../../files/formats.ts";
import { queryOf } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { readFormat } from "./formats.ts";

export const exportPets = (context: Context, call: Call) =>
  exportFile("pets", petContent, context, call);
export const exportOrders = (context: Context, call: Call) =>
  exportFile("orders", orderContent, context, call);

export const mediaTypeOf: Record<Format, string> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  json: "application/json",
};

/** Reading and writing so many rows takes a few milliseconds of the event loop. */
const pageRows = 500;

async function exportFile<Row>(
  what: "pets" | "orders",
  content: Content<Row>,
  { store, clock, snapshots }: Context,
  call: Call,
): Promise<Reply> {
  const { request } = call;
  const format = readFormat(queryOf(request));
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  const headers = {
    "Content-Type": mediaTypeOf[format],
    "Content-Disposition": `attachment; filename="${what}-${date}.${format}"`,
  };
  if (request.method === "HEAD") return { status: 200, body: new ReadableStream(), headers };
  const body = await snapshots.open(call, async () =>
    encoded(exportText(store.catalogue, content, format, pageRows)),
  );
  return { status: 200, body, headers };
}

/** Lets other requests run between two pages. */
async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of text) {
    if (piece !== "") yield Buffer.from(piece);
    await yieldToEventLoop();
  }
}
