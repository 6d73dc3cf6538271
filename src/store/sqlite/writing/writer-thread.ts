import { inBackground } from "../../../domain/running/background.ts";
import { receivedError, unavailable } from "../../../domain/running/errors.ts";
import type { Log } from "../../../domain/running/events.ts";
import type { WrittenFile } from "../engine/connection.ts";
import type { Damage } from "../engine/damage.ts";
import * as messages from "./messages.ts";
import type { Writer } from "./writer.ts";

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const endedCause = "the writing thread has ended";

/** Opens the writing connection on a thread, which handles requests in the order they were sent. */
export async function startWriterThread(file: WrittenFile, log: Log): Promise<Writer> {
  const worker = new Worker(new URL("./writer-worker.ts", import.meta.url));
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let hasEnded = false;
  let damage: Damage | undefined;

  worker.onmessage = inBackground("reply of the writing thread", log, receive);
  worker.onerror = inBackground("failure of the writing thread", log, handleEnd);

  function receive({ data: reply }: MessageEvent<messages.WriterAnswer>): void {
    const id = typeof reply === "string" ? messages.committedId(reply) : reply.id;
    const caller = pending.get(id);
    pending.delete(id);
    if (typeof reply === "string") caller?.resolve(reply);
    else if ("result" in reply) caller?.resolve(reply.result);
    else if ("error" in reply) {
      damage ??= reply.damage;
      caller?.reject(receivedError(reply.error));
    } else caller?.reject(new Error(reply.bug));
  }

  /**
   * Rejects every pending request. Whether the thread committed them before it ended is unknown, so
   * none of them is reported as stored.
   */
  function handleEnd(event: ErrorEvent): void {
    log("writing thread ended", { error: event.message });
    hasEnded = true;
    for (const caller of pending.values()) caller.reject(unavailable("unknownOutcome", endedCause));
    pending.clear();
  }

  function send<T>(message: (id: number, sentMs: number) => messages.WriterMessage): Promise<T> {
    if (hasEnded) return Promise.reject(unavailable("unwritable", endedCause));
    const id = ++lastId;
    return new Promise<T>((resolve, reject) => {
      const sent = message(id, messages.sharedMs());
      pending.set(id, { resolve, reject });
      worker.postMessage(sent);
    });
  }

  const request = <T>(wanted: messages.WriterRequest) =>
    send<T>((id, sentMs) => ({ id, sentMs, request: wanted }));

  await request({ kind: "open", file }).catch((error) => {
    worker.terminate();
    throw error;
  });
  return {
    commit: (units, now, withinMs) =>
      send<string>((id, sentMs) =>
        messages.encodeCommit({ id, sentMs, now, withinMs, units }),
      ).then((committed) => messages.decodeCommitted(committed, units)),
    call: (method, ...args) => request({ kind: "call", method, args }),
    findDamage: () => damage,
    isAlive: () => !hasEnded,
    async close() {
      await request({ kind: "call", method: "close", args: [] });
      worker.terminate();
    },
  };
}
