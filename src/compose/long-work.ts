import { type ChildProcess, spawn } from "node:child_process";
import type { ImportOutcome, LongWork } from "../domain/catalogue/import-runs.ts";
import { type Undone, undoQuickly } from "../domain/catalogue/undo-together.ts";
import { receivedError, ServiceError, unavailable } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { endingOf, type Work, type WorkAnswer } from "../long-work/messages.ts";
import type { Engine } from "../opening/engines.ts";
import { sqlitePath } from "../opening/store-file.ts";
import { nameStageFile, removeStageFile } from "../store/sqlite/engine/stage-files.ts";
import { failureOf, untilEnded, withoutProgram } from "./child.ts";
import type { ServiceOptions } from "./options.ts";

/** Work that takes longer is ended. */
const workMsMax = 600_000;

/** A process that needs more memory fails, and the service keeps its own. */
const dataKilobytesMax = 512 * 1_024;

/** By default, Bun reserves more than that for compiled code, and compiles nothing if it cannot. */
const codeBytesMax = 32 * 1_024 * 1_024;

/**
 * Does imports and undos of several changes in processes of their own: parsing and staging take processor
 * time, and reading much of the ledger blocks. Each process gets its work as values, and returns values. On SQLite
 * it only stages rows, which the writer of the service applies.
 */
export function openLongWork(
  { config, program }: ServiceOptions,
  store: Store,
  applyStaged: Engine["applyStaged"],
): LongWork & { stop(): Promise<void> } {
  const { databaseUrl, environment, replicaCheck } = config;
  const path = applyStaged && sqlitePath(config);
  const stopping = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function run(wanted: Work["wanted"], given: AbortSignal, input?: number): Promise<unknown> {
    if (stopping.signal.aborted) throw unavailable("stopping");
    if (!program) throw failed(wanted, withoutProgram);
    const stageFile = path === undefined ? undefined : nameStageFile(path);
    const work = { store: { databaseUrl, environment, replicaCheck }, wanted, stageFile };
    const done = runInProcess(start(program, input), work, given);
    running.add(done);
    try {
      return await done;
    } finally {
      running.delete(done);
    }
  }

  async function runInProcess(child: ChildProcess, work: Work, given: AbortSignal) {
    const { wanted, stageFile } = work;
    const signal = AbortSignal.any([stopping.signal, given, AbortSignal.timeout(workMsMax)]);
    let applying: Promise<unknown> | undefined;
    let mayBeStored = false;
    let answer: Extract<WorkAnswer, { kind: "ended" }> | undefined;

    child.on("message", (message: WorkAnswer) => {
      // On SQLite, nothing is stored unless it is applied here.
      mayBeStored ||= message.kind === (stageFile === undefined ? "storing" : "apply");
      if (message.kind === "ended") {
        answer = message;
        child.disconnect();
      }
      if (message.kind !== "apply" || stageFile === undefined || signal.aborted) return;
      // The process was given this file, and no other is applied.
      const given = { ...message.given, file: stageFile };
      applying = endingOf(() => applyStaged!(given)).then((ending) => say(child, ending));
    });
    say(child, work);
    const ended = await untilEnded(child, signal);
    // The store is still in use, and so is the file.
    await applying;
    if (stageFile !== undefined) removeStageFile(stageFile);
    const ending = answer?.ending ?? { bug: failureOf(ended, signal).message };
    if ("result" in ending) return ending.result;
    if ("error" in ending) throw receivedError(ending.error);
    if (mayBeStored && !answer) throw unavailable("unknownOutcome");
    if (stopping.signal.aborted) throw unavailable("stopping");
    throw failed(wanted, ending.bug);
  }

  return {
    importFile: (wanted, file, signal) =>
      run({ kind: "import", run: wanted }, signal, file) as Promise<ImportOutcome>,
    async undo(wanted, signal) {
      // Most undos are of the last minutes, and need no process.
      const undone = await undoQuickly(store, wanted, wanted);
      return undone ?? ((await run({ kind: "undo", run: wanted }, signal)) as Undone);
    },
    /** Ends the work that is being done. Resolves when nothing uses the store any more. */
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Starts the process. It inherits the descriptor of the file to import. */
function start(program: readonly string[], input: number | undefined): ChildProcess {
  const words = [...program, "work"];
  // Only Linux counts all memory of a process as data.
  const limit = `ulimit -d ${dataKilobytesMax}; export BUN_JSC_jitMemoryReservationSize=${codeBytesMax}; exec "$@"`;
  const limited = process.platform === "linux" ? ["/bin/sh", "-c", limit, "sh", ...words] : words;
  return spawn(limited[0]!, limited.slice(1), {
    stdio: [input ?? "ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
  });
}

/** Sends a message. If the process has ended, that shows where somebody waits for its end. */
function say(child: ChildProcess, message: object): void {
  if (child.connected) child.send(message, () => {});
}

function failed({ kind }: Work["wanted"], reason: string): ServiceError {
  return new ServiceError("unavailable", `The ${kind} failed: ${reason.replace(/\.$/, "")}.`);
}
