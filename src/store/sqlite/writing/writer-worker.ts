import { ServiceError } from "../../../domain/running/errors.ts";
import {
  packCommit,
  type SentRequest,
  sharedMs,
  unpackUnits,
  type WriterReply,
  type WriterRequest,
} from "./messages.ts";
import { type BlockingWriter, callMethod, openWriter } from "./writer.ts";

/** The writing thread. A disk flush takes milliseconds, and no reader should wait for one. */

declare const self: Worker;

let writer: BlockingWriter | undefined;

/** That of a request that did not wait. Not 0 if the system's clock was set while the threads started. */
let leastAgeMs = Number.POSITIVE_INFINITY;

function handle(request: WriterRequest): unknown {
  if (request.kind === "open") {
    writer = openWriter(request.path, request.environment);
    return undefined;
  }
  if (request.kind === "commit") {
    const units = unpackUnits(request.units);
    return packCommit(writer!.commit(units, request.now, request.withinMs));
  }
  return callMethod(writer!, request.method, request.args);
}

self.onmessage = (event: MessageEvent<SentRequest>) => {
  const { id, request, sentMs } = event.data;
  const ageMs = sharedMs() - sentMs;
  leastAgeMs = Math.min(leastAgeMs, ageMs);
  writer?.setQueuedMs(ageMs - leastAgeMs);
  let reply: WriterReply;
  try {
    reply = { id, result: handle(request) };
  } catch (error) {
    if (error instanceof ServiceError) {
      const { code, message, reason } = error;
      const cause = error.cause === undefined ? undefined : String(error.cause);
      reply = { id, error: { code, message, reason, cause }, damage: writer?.findDamage() };
    } else {
      reply = { id, bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }
  self.postMessage(reply);
};
