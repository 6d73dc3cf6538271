import { formatCursor } from "../../domain/ledger/cursors.ts";
import type { Position } from "../../domain/ledger/epochs.ts";
import { ledgerRowJson, type NamedRow } from "../../domain/ledger/ledger.ts";

/**
 * Formats a change for `text/event-stream`. The id of every event is a cursor. A client that sends the
 * last id that it has seen as `Last-Event-ID` continues after it.
 */
export function changeEvent(row: NamedRow, position: Position): string {
  return event("change", position, ledgerRowJson(row));
}

/**
 * Formats an event without a change. `heartbeat`: everything up to the position was sent. A comment
 * would keep the connection open too, but only an event shows the client that the connection works.
 * `reset`: the client's cursor belongs to another history, and the stream continues after the
 * position.
 */
export function positionEvent(kind: "heartbeat" | "reset", position: Position): string {
  return event(kind, position, `{"seq":${position.seq}}`);
}

/** JSON without indentation has no line breaks, so the data is one line. */
function event(kind: string, position: Position, json: string): string {
  const data = json.replace(otherLineBreaks, escapeCharacter);
  return `id: ${formatCursor(position)}\nevent: ${kind}\ndata: ${data}\n\n`;
}

/**
 * Characters that do not end a line of an event stream, but that common functions treat as line
 * breaks, such as Python's `splitlines`. A client that uses one would lose the change.
 */
const otherLineBreaks = /[\u0085\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const retryMsMin = 1_000;
const retryMsMax = 3_000;

/** Tells the client when to reconnect. Random, so that not all clients come back at once. */
export function retryField(): string {
  return `retry: ${Math.round(retryMsMin + Math.random() * (retryMsMax - retryMsMin))}\n\n`;
}
