import { childVariables } from "../config.ts";
import type { Actor } from "../domain/audit/audit.ts";
import type { FoundColumn, Imported } from "../domain/catalogue/import-preview.ts";
import type { Problem } from "../domain/catalogue/import-problems.ts";
import {
  differencesListedMax,
  type ImportOutcome,
  type ImportRun,
  type ImportRunner,
  type ListedDifference,
  type NotRun,
  type UndoRun,
} from "../domain/catalogue/import-runs.ts";
import { type ErrorCode, ServiceError, unavailable } from "../domain/running/errors.ts";
import { valueOfJson } from "../domain/values/json.ts";
import { spool } from "../files/spool.ts";
import { failureOf, runCommand, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

type Maker = "operator" | "assistant";

/** An import that takes longer is ended. */
const importMsMax = 600_000;

/** More than the largest list of differences has. */
const outputCharactersMax = 8_000_000;

/**
 * Imports with the command that operators use, in a process of its own: parsing and staging take CPU
 * time, and writing a SQLite file blocks. The process starts when the whole file has arrived. If it
 * read the request itself, a service that is killed would leave it with a part of the file, which is
 * a valid file, too.
 */
export function openImports({
  config,
  program,
}: ServiceOptions): ImportRunner & { stop(): Promise<void> } {
  const variables = childVariables(config);
  const stopping = new AbortController();
  /** What is being made, for operators and for assistants: one cannot keep the other out. */
  const running = new Map<Maker, Promise<unknown>>();

  async function receiveAndImport(
    request: ImportRun,
    bytes: AsyncIterable<Uint8Array>,
    onReceived: () => void,
    given: AbortSignal,
  ): Promise<ImportOutcome> {
    await using file = await spool(untilStopped(bytes, stopping.signal));
    onReceived();
    return runToEnd(wordsOf(request), given, (out) => readOutcome(out, request), file.descriptor);
  }

  /** Returns what `read` finds in the output, or why it finds nothing. */
  async function runToEnd<T>(
    words: readonly string[],
    given: AbortSignal,
    read: (out: string) => T | undefined,
    input?: number,
  ): Promise<T | NotRun> {
    const signal = AbortSignal.any([stopping.signal, given, AbortSignal.timeout(importMsMax)]);
    const options = { signal, outputCharactersMax, ...(input !== undefined && { input }) };
    const result = await runCommand({ command: program!, variables }, words, options);
    const found = read(result.out);
    if (found) return found;
    // A process that was ended may have stored everything, or the database still does.
    const isEnded = signal.aborted || typeof result.ended === "string";
    if (isEnded && !words.includes("--dry-run")) throw unavailable("unknownOutcome");
    if (stopping.signal.aborted) throw unavailable("stopping");
    return { kind: "failed", reason: failureOf(result, signal).message };
  }

  async function alone<T>(by: Maker, work: () => Promise<T>): Promise<T | NotRun> {
    if (stopping.signal.aborted) throw unavailable("stopping");
    if (program === undefined) return { kind: "failed", reason: withoutProgram };
    if (running.has(by)) return { kind: "running" };
    const done = work();
    running.set(by, done);
    try {
      return await done;
    } finally {
      running.delete(by);
    }
  }

  return {
    run: (...args) => alone("operator", () => receiveAndImport(...args)),
    undo: (run, given) =>
      alone(run.isByAssistant ? "assistant" : "operator", () =>
        runToEnd(undoWordsOf(run), given, readUndone),
      ),
    /** Ends an import that is being made. Resolves when nothing uses the store any more. */
    async stop() {
      stopping.abort();
      await Promise.allSettled(running.values());
    },
  };
}

/** The same bytes. Throws when the service stops, even if no more of them arrive. */
async function* untilStopped(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessStopped(chunks.next(), signal);
    if (next.done) return;
    yield next.value;
  }
}

/**
 * The same result. Rejects when the service stops. The listener ends with the work: the signal lives as
 * long as the service, and would keep every chunk in memory.
 */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = () => reject(unavailable("stopping"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  return promise;
}

function wordsOf(run: ImportRun): readonly string[] {
  const { what, format, name, delimiter, map, isDryRun, actor } = run;
  const given = flagsOf({ format, name, delimiter, map, ...attributionOf(actor) });
  const trying = isDryRun ? ["--dry-run", `--differences=${differencesListedMax}`] : [];
  return [what, "import", "-", "--json", ...given, ...trying];
}

function undoWordsOf(run: UndoRun): readonly string[] {
  const { requestId, session, petId, keyId, cause, from, to, asOf, reason } = run;
  const given = flagsOf({
    ...{ request: requestId, session, pet: petId, key: keyId, cause, "as-of": asOf, reason },
    ...{ from: timeOf(from), to: timeOf(to), ...attributionOf(run.actor) },
  });
  const force = run.force ? ["--force"] : [];
  return ["undo", "--json", ...given, ...force, ...(run.isDryRun ? ["--dry-run"] : [])];
}

const attributionOf = ({ keyId, requestId }: Actor) => ({ as: keyId, "request-id": requestId });

/** The flags that have a value. */
function flagsOf(values: Readonly<Record<string, unknown>>): readonly string[] {
  const given = Object.entries(values).filter(([, value]) => (value ?? undefined) !== undefined);
  return given.map(([name, value]) => `--${name}=${value}`);
}

const timeOf = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** The same text, because numbers in it may have more digits than a number of this program. */
function readUndone(json: string) {
  const printed = valueOfJson<{ code?: ErrorCode; message: string }>(json);
  if (printed?.code) throw new ServiceError(printed.code, printed.message);
  return printed && ({ kind: "undone", json } as const);
}

/** What the command printed as JSON. Undefined if it failed for another reason than the file. */
function readOutcome(out: string, { what }: ImportRun): ImportOutcome | undefined {
  const printed = valueOfJson<Printed>(out);
  if (!printed) return undefined;
  const { columns = [] } = printed;
  if ("problems" in printed) {
    const problems = printed.problems.map(withoutNulls);
    return { kind: "rejected", total: printed.problemCount, problems, columns };
  }
  const { created, changed, unchanged, differenceCount: total } = printed;
  const counts = { created, changed, unchanged };
  if (total === undefined) return { kind: "imported", counts, differences: undefined, columns };
  const idName = what === "pets" ? "petId" : "id";
  const exact = parseExactly(out) as { differences: readonly Record<string, unknown>[] };
  const rows = exact.differences.map(
    ({ [idName]: id, field, from, to }): ListedDifference => ({ id, field, from, to }),
  );
  return { kind: "imported", counts, differences: { total, rows }, columns };
}

type Printed = { readonly columns?: readonly FoundColumn[] } & (
  | { readonly problemCount: number; readonly problems: readonly Problem[] }
  | (Imported & { readonly differenceCount?: number })
);

/** JSON has null where a problem has no column or no value. */
function withoutNulls({ column, value, ...problem }: Problem): Problem {
  return { ...problem, column: column ?? undefined, value: value ?? undefined };
}

/** JSON whose numbers are written again with all their digits. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" ? JSON.rawJSON(source ?? String(value)) : value,
  );
}
