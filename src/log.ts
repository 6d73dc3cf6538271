import { type EventName, events, type LogLevel, logLevels } from "./domain/running/events.ts";
import { createLineWriter, type LineFormat } from "./log/lines.ts";
import { createLogWriter } from "./log/writer.ts";
import { createScrubber, hasColour } from "./output.ts";

export interface LogOptions {
  /** `auto` is `text` on a terminal and `json` elsewhere. */
  readonly format: LineFormat | "auto";
  readonly level: LogLevel;
  /** Texts that must not reach a line, such as the password of the database. */
  readonly secrets?: readonly string[];
}

/** The log of this process, on standard error. */
export type ServiceLog = ReturnType<typeof createLog>;

/** Characters that wait to be written. */
const waitingMax = 2 * 1024 * 1024;

/** How long the line of a request waits for others. */
const gatherMs = 100;

/** The longest time that the end of the process waits for the last lines. */
const flushMs = 1_000;

export function createLog({ format, level, secrets = [] }: LogOptions) {
  const isTerminal = process.stderr.isTTY === true;
  const chosen = format === "auto" ? (isTerminal ? "text" : "json") : format;
  const lineOf = createLineWriter(chosen, hasColour(process.stderr), createScrubber(secrets));
  const least = logLevels.indexOf(level);
  const isLogged = (event: EventName) => logLevels.indexOf(events[event].level) >= least;
  const writer = createLogWriter(2, waitingMax, (lines) => log("log lines dropped", { lines }));

  function log(event: EventName, details: Readonly<Record<string, unknown>> = {}): void {
    if (isLogged(event)) writer.add(lineOf(event, details), 0);
  }

  /** For the lines of requests, which contain no secret. They may wait a little for each other. */
  const requestLines = {
    format: chosen,
    addLine(line: string) {
      if (isLogged("request")) writer.add(line, gatherMs);
    },
    dropLine: writer.drop,
  };
  return Object.assign(log, {
    requestLines,
    flush: () => writer.flush(flushMs),
    /** Lines that could not be written, for metrics. */
    droppedLines: writer.dropped,
  });
}

let processLog: ServiceLog | undefined;

/** Creates the log of the process. A crash is written to it too. */
export function openProcessLog(options: LogOptions): ServiceLog {
  processLog = createLog(options);
  return processLog;
}

/** Waits for the last lines of the log, if there is one, for a bounded time. */
export async function flushProcessLog(): Promise<void> {
  await processLog?.flush();
}

/** The log of the process. Before one is opened, and in commands, it has the default format. */
export function currentLog(): ServiceLog {
  processLog ??= createLog({ format: "auto", level: "info" });
  return processLog;
}
