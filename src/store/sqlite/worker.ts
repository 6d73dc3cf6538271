import { Refusal } from "../../domain/errors.ts";
import { packOutcomes, unpackChanges } from "./packing.ts";
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
      const [changes, now] = args;
      reply = { id, result: packOutcomes(writer!.commit(unpackChanges(changes), now)) };
    } else {
      const call = writer![method] as (...args: unknown[]) => unknown;
      reply = { id, result: call(...args) };
    }
  } catch (error) {
    reply =
      error instanceof Refusal
        ? { id, refusal: { code: error.code, message: error.message } }
        : { id, bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  self.postMessage(reply);
};
