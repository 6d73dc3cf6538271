import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Config } from "../config.ts";
import { type ReplicaCheck, watchReplica } from "../domain/operations/replica.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { reasonOf } from "../file-errors.ts";
import { sqlitePath } from "../store-file.ts";
import type { ServiceOptions } from "./options.ts";

/** Watches the continuous copy of the store. Undefined without `--replica-check`. */
export function openReplica({ config, log }: Pick<ServiceOptions, "config" | "log">) {
  const check = replicaCheckOf(config);
  return check && watchReplica({ check, log, ...config.replica });
}

/** The check that the operator has set. Throws if the store cannot have such a copy. */
export function replicaCheckOf(config: Config): ReplicaCheck | undefined {
  const { replicaCheck: check } = config;
  if (check === undefined) return undefined;
  const path = sqlitePath(config);
  if (path === undefined) {
    throw new ServiceError(
      "invalid_request",
      "--replica-check is for stores on SQLite; docs/backup.md says how to copy a PostgreSQL database",
    );
  }
  const socket = /^unix:(.+)/s.exec(check)?.[1];
  return (signal) => (socket ? askLitestream(socket, path, signal) : runShell(check, signal));
}

/** Less than a check may take, so that Litestream gives up first. */
const copySeconds = 15;

/**
 * Asks Litestream to copy what it has not copied yet, and to respond when that is done. Its list of
 * databases has the time of the last upload, but that is also recorded while it cannot read the store.
 * The text of a response is not shown: it may have addresses with passwords.
 */
async function askLitestream(unix: string, path: string, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ path, wait: true, timeout: copySeconds });
  const request = { unix, method: "POST", body, signal, redirect: "manual" } as const;
  const response = await fetch("http://litestream/sync", request).catch((error) => {
    throw signal.aborted ? late() : new Error(`cannot reach Litestream: ${reasonOf(error)}`);
  });
  // It may have no end.
  response.body?.cancel().catch(() => {});
  if (response.status === 200) return;
  throw new Error(
    response.status === 404
      ? `Litestream does not copy ${path}; its configuration must name this path`
      : `Litestream could not copy the last updates (status ${response.status}); its log says why`,
  );
}

/** Neither the command nor its output is shown: both may have passwords. */
async function runShell(command: string, signal: AbortSignal): Promise<void> {
  // A process group, so that nothing that the command has started stays when it takes too long.
  const child = spawn("/bin/sh", ["-c", command], { stdio: "ignore", detached: true });
  const end = () => process.kill(-child.pid!, "SIGKILL");
  signal.addEventListener("abort", end);
  try {
    const [code, killedBy] = (await once(child, "exit")) as [number | null, string | null];
    if (code === 0) return;
    if (signal.aborted) throw late();
    throw new Error(`the command ended with ${killedBy ?? `exit code ${code}`}`);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function late(): Error {
  return new Error("the check took too long");
}
