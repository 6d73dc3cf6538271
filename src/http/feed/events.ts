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
  const data = json.replace(otherLineBreaks, escapeCharacter);
  return `id: ${formatCursor(position)}\nevent: ${kind}\ndata: ${data}\n\n`;
}

/**
 * Characters that end no line of an event stream, but at which common functions for lines split, such
 * as Python's `splitlines`. A client that uses one would lose the change.
 */
const otherLineBreaks = /[\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const retryMsMin = 1_000;
const retryMsMax = 3_000;

/** Tells the client when to reconnect. Random, so that not all clients of a restarted service come at once. */
export function retryField(): string {
  return `retry: ${Math.round(retryMsMin + Math.random() * (retryMsMax - retryMsMin))}\n\n`;
}
