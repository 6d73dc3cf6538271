import {
  type Moment,
  parseMoment,
  type ResolvedMoment,
  resolveMoments,
} from "../../domain/ledger/moments.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { differencesBetween, inventoryAt } from "../../domain/snapshots/snapshots.ts";
import { satisfiesIfNoneMatch } from "../messages/etags.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { encodeDifferences, encodeEntries, jsonArray } from "../snapshots/json.ts";
import { momentInvalid, queryOf, singleValue, toInvalid } from "./parameters.ts";

/** The whole inventory as of a moment. */
export async function getSnapshot(context: Context, call: Call): Promise<Reply> {
  const [at] = await resolve(context, [readMoment(call)]);
  const { basePath } = call.operation;
  return reply(context, call, at!.tag, `${basePath}/snapshots/${at!.seq}`, async (signal) =>
    jsonArray(await inventoryAt(context.store, at!, signal), encodeEntries),
  );
}

/** The pets whose stock differs between two moments. */
export async function getDiff(context: Context, call: Call): Promise<Reply> {
  const [from, to] = await resolve(context, [readMoment(call), readTo(call)]);
  const location = `${call.operation.basePath}/snapshots/${from!.seq}/diff?to=${to!.seq}`;
  return reply(context, call, `${from!.tag}..${to!.tag}`, location, async (signal) =>
    jsonArray(await differencesBetween(context.store, from!, to!, signal), encodeDifferences),
  );
}

function resolve({ store, clock }: Context, moments: Moment[]): Promise<ResolvedMoment[]> {
  return resolveMoments(store, clock, moments);
}

/** Replies without a body where the client has this state already, or asks only for the headers. */
async function reply(
  { snapshots }: Context,
  call: Call,
  tag: string,
  location: string,
  prepare: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
): Promise<Reply> {
  const headers = { ETag: `"${tag}"`, "Content-Location": location };
  const { request } = call;
  const known = request.headers.get("if-none-match");
  if (known !== null && satisfiesIfNoneMatch(known, tag)) {
    return { status: 304, body: null, headers };
  }
  const body = request.method === "HEAD" ? unknownLength() : await snapshots.open(call, prepare);
  return { status: 200, body, headers };
}

/** The body of a response to HEAD. With null the server would send `Content-Length: 0`. */
function unknownLength(): ReadableStream<Uint8Array> {
  return new ReadableStream();
}

function readMoment({ request }: Call): Moment {
  const moment = parseMoment(request.params?.moment ?? "");
  if (!moment) throw new ServiceError("invalid_request", momentInvalid);
  return moment;
}

function readTo({ request }: Call): Moment {
  const text = singleValue(queryOf(request), "to");
  // A plus sign in a query means a space, and an offset from UTC may be sent as it is.
  const moment = parseMoment((text ?? "").replace(" ", "+"));
  if (!moment) throw new ServiceError("invalid_request", toInvalid);
  return moment;
}
