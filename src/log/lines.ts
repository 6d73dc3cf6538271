import { type EventName, events } from "../domain/running/events.ts";
import { printable } from "../output.ts";

export type LineFormat = "json" | "text";

/** Turns an event into one line. Hides secrets and escapes what a terminal would interpret. */
export type LineWriter = (event: EventName, details: Readonly<Record<string, unknown>>) => string;

/** The longest value in a line. An error may quote what a client sent. */
const valueCharactersMax = 8_000;

/** Colours of the levels: grey, default, yellow, red. */
const colours = { debug: "\x1b[90m", info: "", warn: "\x1b[33m", error: "\x1b[31m" } as const;

export function createLineWriter(
  format: LineFormat,
  hasColour: boolean,
  withoutSecrets: (text: string) => string,
): LineWriter {
  const toLogged = (value: unknown): unknown => {
    if (typeof value === "string") {
      const text = withoutSecrets(value);
      return text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text;
    }
    if (typeof value === "bigint") return value.toString();
    if (value instanceof Error) return toLogged(String(value));
    return value;
  };

  function jsonLine(event: EventName, details: Readonly<Record<string, unknown>>): string {
    const { level } = events[event];
    const fields = { at: new Date().toISOString(), level, event, ...details };
    return `${printable(JSON.stringify(fields, (_key, value) => toLogged(value)))}\n`;
  }

  function textLine(event: EventName, details: Readonly<Record<string, unknown>>): string {
    const { level } = events[event];
    const pairs = Object.entries(details)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${name}=${plain(value)}`)
      .join("");
    const label = level.toUpperCase().padEnd(5);
    const colour = hasColour ? colours[level] : "";
    const shown = colour === "" ? label : `${colour}${label}\x1b[0m`;
    return `${new Date().toISOString()} ${shown} ${event}${printable(pairs)}\n`;
  }

  /** A word as it is, anything else as JSON. */
  function plain(value: unknown): string {
    const logged = toLogged(value);
    const isWord = typeof logged === "string" && /^[\w.:/@+-]+$/.test(logged);
    return isWord ? logged : JSON.stringify(logged, (_key, inner) => toLogged(inner));
  }

  return format === "json" ? jsonLine : textLine;
}
