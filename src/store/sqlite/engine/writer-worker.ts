import { Refusal } from "../../../domain/errors.ts";
import { packCommit, unpackUnits } from "./messages.ts";
import { createWriter, type Writer, type WriterReply, type WriterRequest } from "./writer.ts";

/** The writing thread: a disk flush takes milliseconds, and no reader should wait for one. */

declare const self: Worker;

let writer: Writer | undefined;

self.onmessage = (event: MessageEvent<WriterRequest>) => {
  const { id, method, args } = event.data;
  let reply: WriterReply;
  try {
    if (method === "open") {
      writer = createWriter(...args);
      reply = { id, result: undefined };
    } else if (method === "commit") {
      const [units, now, withinMs] = args;
      const committed = writer!.commit(unpackUnits(units), now, withinMs);
      reply = { id, result: packCommit(committed) };
    } else {
      const call = writer![method] as (...args: unknown[]) => unknown;
      reply = { id, result: call(...args) };
    }
  } catch (error) {
    if (error instanceof Refusal) {
      const { code, message } = error;
      reply = { id, refusal: { code, message }, damage: writer?.findDamage() };
    } else {
      reply = { id, bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }
  self.postMessage(reply);
};
