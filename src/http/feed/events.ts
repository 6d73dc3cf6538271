import { formatCursor } from "../../domain/cursors.ts";
import type { Position } from "../../domain/epochs.ts";
import type { NamedRow } from "../../domain/ports.ts";
import { ledgerRowJson } from "../../domain/row-json.ts";

/**
 * Events as `text/event-stream` writes them. Each has an id, the cursor after it. A client that sends
 * the last one it has seen as `Last-Event-ID` continues there.
 */
export function changeEvent(row: NamedRow, position: Position): string {
  return event("change", position, ledgerRowJson(row));
}

/**
 * `heartbeat`: everything up to the position was sent. A comment would keep the connection open too,
 * but only an event shows the client that the connection works. `reset`: the client's cursor belongs
 * to another history, and the stream continues after the position.
 */
export function positionEvent(kind: "heartbeat" | "reset", position: Position): string {
  return event(kind, position, `{"seq":${position.seq}}`);
}

/** JSON has no line breaks, so the data is one line. */
function event(kind: string, position: Position, json: string): string {
  return `id: ${formatCursor(position)}\nevent: ${kind}\ndata: ${json}\n\n`;
}

const retryMsMin = 1_000;
const retryMsMax = 3_000;

/** Tells the client when to reconnect. Random, so that not all clients of a restarted service come at once. */
export function retryField(): string {
  return `retry: ${Math.round(retryMsMin + Math.random() * (retryMsMax - retryMsMin))}\n\n`;
}
