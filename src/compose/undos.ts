import { childVariables } from "../config.ts";
import type { UndoRun, UndoRunner } from "../domain/history/undo-together.ts";
import { formatCursor } from "../domain/ledger/cursors.ts";
import { ServiceError, unavailable } from "../domain/running/errors.ts";
import { failureOf, runCommand, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

export interface Undos extends UndoRunner {
  /** Ends an undo that is being made. Resolves when nothing uses the store any more. */
  stop(): Promise<void>;
}

/** An undo that takes longer is ended. */
const undoMsMax = 300_000;

const alreadyRunning = "Another undo is being made. Try again when it has ended.";

/**
 * Undoes many changes with the command that operators use, in a process of its own: it may have to read
 * a large part of the ledger, and to hash 100,000 rows.
 */
export function openUndos({ config, program: command }: ServiceOptions): Undos {
  const variables = childVariables(config);
  const stopping = new AbortController();
  let running: Promise<string> | undefined;

  async function run(request: UndoRun, given: AbortSignal): Promise<string> {
    if (!command) throw new ServiceError("unavailable", `The undo failed: ${withoutProgram}.`);
    const signal = AbortSignal.any([stopping.signal, given, AbortSignal.timeout(undoMsMax)]);
    const result = await runCommand({ command, variables }, wordsOf(request), { signal });
    if (result.out !== "") return result.out.trimEnd();
    if (stopping.signal.aborted) throw unavailable("stopping");
    const { message } = failureOf(result, signal);
    throw new ServiceError("unavailable", `The undo failed: ${message}.`);
  }

  return {
    async run(request, signal) {
      if (stopping.signal.aborted) throw unavailable("stopping");
      if (running) throw new ServiceError("already_running", alreadyRunning);
      running = run(request, signal);
      try {
        return await running;
      } finally {
        running = undefined;
      }
    },
    async stop() {
      stopping.abort();
      await running?.catch(() => {});
    },
  };
}

function wordsOf({ selection, options }: UndoRun): readonly string[] {
  const { isDryRun, includesChanged, asOf, reason, actor } = options;
  const flags: Record<string, string | undefined> =
    "requestId" in selection
      ? { request: selection.requestId }
      : {
          key: selection.keyId,
          from: new Date(selection.from).toISOString(),
          to: new Date(selection.to).toISOString(),
          pet: selection.petId?.toString(),
          cause: selection.cause,
        };
  const all = {
    ...flags,
    reason,
    as: actor?.keyId ?? undefined,
    "request-id": actor?.requestId ?? undefined,
    "as-of": asOf && formatCursor(asOf),
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return [
    "undo",
    "--json",
    ...(isDryRun ? ["--dry-run"] : []),
    ...(includesChanged ? ["--force"] : []),
    ...given.map(([name, value]) => `--${name}=${value}`),
  ];
}
