import type { ErrorCode } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";
import type { Change } from "../../domain/ledger.ts";
import { guarded, openForWriting } from "./database.ts";
import { createKeyWriter } from "./keeping.ts";
import type { PackedChanges } from "./packing.ts";
import { createLedgerWriter } from "./writing.ts";

/** Everything that writes while the service runs, on one connection that may block its thread. */
export type Writer = ReturnType<typeof createWriter>;

/** The same, from a thread that does not block. */
export type Asynchronous<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};

export type WriterRequest =
  | { id: number; method: "open"; args: [path: string, environment: Environment] }
  | { id: number; method: "commit"; args: [changes: PackedChanges, now: number] }
  | { id: number; method: Exclude<keyof Writer, "commit">; args: unknown[] };

export type WriterReply =
  | { id: number; result: unknown }
  | { id: number; refusal: { code: ErrorCode; message: string } }
  | { id: number; bug: string };

/**
 * How long a write waits while another process holds the file. Long enough for an import of a
 * million rows to be applied, shorter than the time after which an idle connection is closed.
 */
const busyWaitMs = 8_000;

export function createWriter(path: string, environment: Environment) {
  const database = openForWriting(path, environment, busyWaitMs);
  const ledger = createLedgerWriter(database);
  const keys = createKeyWriter(database);

  return {
    commit: guarded((changes: readonly Change[], now: number) => ledger.commit(changes, now)),
    beginEpoch: guarded((epoch: string) => ledger.beginEpoch(epoch)),
    addKey: guarded(keys.addKey),
    addSecret: guarded(keys.addSecret),
    revokeKey: guarded(keys.revokeKey),
    saveUsage: guarded(keys.saveUsage),
    saveBan: guarded(keys.saveBan),
    liftBan: guarded(keys.liftBan),
    close: () => database.close(),
  };
}
