import { inBackground } from "../../../domain/background.ts";
import { Refusal } from "../../../domain/errors.ts";
import type { Environment } from "../../../domain/keys.ts";
import type { Unit } from "../../../domain/ledger.ts";
import type { Log } from "../../../domain/ports.ts";
import type { Damage } from "./damage.ts";
import { type PackedCommit, packUnits, unpackCommit } from "./messages.ts";
import type { Asynchronous, Writer, WriterReply, WriterRequest } from "./writer.ts";

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

export interface WriterThread extends Asynchronous<Omit<Writer, "findDamage">> {
  /** The damage that made the thread refuse writes: it looks more often than anybody else. */
  findDamage(): Damage | undefined;
  /** False once the thread has died; only a new process has a new one. */
  isAlive(): boolean;
}

/** Starts the writing thread and speaks to it by messages, answered in the order they were sent. */
export async function startWriterThread(
  path: string,
  environment: Environment,
  log: Log,
): Promise<WriterThread> {
  const worker = new Worker(new URL("./writer-worker.ts", import.meta.url));
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let broken = false;
  let damage: Damage | undefined;

  worker.onmessage = inBackground("reply of the writing thread", log, receive);
  worker.onerror = inBackground("failure of the writing thread", log, breakDown);

  function receive(event: MessageEvent<WriterReply>): void {
    const reply = event.data;
    const waiter = pending.get(reply.id);
    pending.delete(reply.id);
    if ("result" in reply) waiter?.resolve(reply.result);
    else if ("refusal" in reply) {
      damage ??= reply.damage;
      waiter?.reject(new Refusal(reply.refusal.code, reply.refusal.message));
    } else waiter?.reject(new Error(reply.bug));
  }

  /**
   * A thread that died answers nobody: what it had committed is in the file, what it had not is
   * refused, and neither is called a success.
   */
  function breakDown(event: ErrorEvent): void {
    log("writing thread ended", { error: event.message });
    broken = true;
    for (const waiter of pending.values()) waiter.reject(threadLost());
    pending.clear();
  }

  function ask(method: WriterRequest["method"], args: unknown[]): Promise<unknown> {
    if (broken) return Promise.reject(threadLost());
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject });
      worker.postMessage({ id, method, args });
    });
  }

  await ask("open", [path, environment]).catch((error) => {
    worker.terminate();
    throw error;
  });
  const call =
    (method: keyof Writer) =>
    (...args: unknown[]) =>
      ask(method, args);
  return {
    async commit(units: readonly Unit[], now: number, withinMs: number) {
      const packed = await ask("commit", [packUnits(units), now, withinMs]);
      return unpackCommit(packed as PackedCommit, units);
    },
    beginEpoch: call("beginEpoch"),
    addKey: call("addKey"),
    addSecret: call("addSecret"),
    revokeKey: call("revokeKey"),
    saveUsage: call("saveUsage"),
    saveBan: call("saveBan"),
    liftBan: call("liftBan"),
    saveStrandedLog: call("saveStrandedLog"),
    findDamage: () => damage,
    async close() {
      await ask("close", []);
      worker.terminate();
    },
    isAlive: () => !broken,
  } as WriterThread;
}

function threadLost(): Refusal {
  return new Refusal("unavailable", "The store cannot be written; try again later.");
}
