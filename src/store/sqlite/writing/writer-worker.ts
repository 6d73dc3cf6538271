import { ServiceError, sentError } from "../../../domain/running/errors.ts";
import * as messages from "./messages.ts";
import { type BlockingWriter, callMethod, openWriter } from "./writer.ts";

/** The writing thread. A disk flush takes milliseconds, and no reader should wait for one. */

declare const self: Worker;

let writer: BlockingWriter | undefined;

/**
 * The smallest age seen so far: that of a request that did not queue. Not 0 if the system's clock was set
 * while the threads started.
 */
let leastAgeMs = Number.POSITIVE_INFINITY;

function answer(sent: messages.SentRequest | messages.SentCommit): messages.WriterAnswer {
  if ("units" in sent) {
    return messages.encodeCommitted(sent.id, writer!.commit(sent.units, sent.now, sent.withinMs));
  }
  const { id, request } = sent;
  if (request.kind === "call") {
    return { id, result: callMethod(writer!, request.method, request.args) };
  }
  writer = openWriter(request.file);
  return { id, result: undefined };
}

self.onmessage = ({ data }: MessageEvent<messages.WriterMessage>) => {
  const sent = typeof data === "string" ? messages.decodeCommit(data) : data;
  const { id } = sent;
  const ageMs = messages.sharedMs() - sent.sentMs;
  leastAgeMs = Math.min(leastAgeMs, ageMs);
  writer?.setQueuedMs(ageMs - leastAgeMs);
  let reply: messages.WriterAnswer;
  try {
    reply = answer(sent);
  } catch (error) {
    if (error instanceof ServiceError) {
      reply = { id, error: sentError(error), damage: writer?.findDamage() };
    } else {
      reply = { id, bug: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }
  self.postMessage(reply);
};
