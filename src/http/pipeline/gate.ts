import { createHash } from "node:crypto";
import type { Once } from "../../domain/audit/audit.ts";
import type { Made } from "../../domain/audit/made.ts";
import { reusedKey } from "../../domain/ledger/changes.ts";
import { DetailedError, ServiceError } from "../../domain/running/errors.ts";
import { spool } from "../../files/spool.ts";
import { type Fields, parametersIn, parseFields, textOf } from "../messages/fields.ts";
import { idempotencyKeyIn, identifyRequest } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import { readChunks, readJsonText } from "../messages/requests.ts";
import { identifyAgain } from "./authentication.ts";
import type { Context } from "./context.ts";
import { keepOpen } from "./keep-open.ts";
import type { Call, ChangeOperation, Operation } from "./operation.ts";

/** What a request says, apart from who sent it. */
export interface Sent {
  readonly fields: Fields;
  /** The idempotency key. Undefined without one. */
  readonly key: string | undefined;
}

/** A file of the body: its descriptor, and a digest of its content. */
interface SentFile {
  readonly descriptor: number;
  readonly digest: string;
}

/** How long a request waits for a place. */
const placeMsMax = 60_000;

/**
 * Runs an operation that changes something. Every way in passes here, in this order: the whole body, a
 * place, who sent it, scope or role, dry run or idempotency key, the change. Authentication and limits come
 * before (pipeline.ts). The change itself records who made it: in the ledger, or in the audit log.
 *
 * A tool has its `sent` arguments. Otherwise they are those of the request.
 */
export async function passGate(
  context: Context,
  call: Call,
  operation: ChangeOperation,
  sent?: Sent,
): Promise<Reply> {
  const { requestId } = call;
  await using opened = new AsyncDisposableStack();
  call.authenticator.rejectForeign?.(call);
  const { fields, key } = sent ?? (await readRequest(call, operation));
  const isDryRun = operation.tries?.(fields) ?? false;
  const file = operation.readsFile && (await receiveFile(context, call, opened));
  if (operation.isLong) opened.use(keepOpen(context, call));
  if (operation.takesPlace) opened.defer(await enterPlace(context, call));
  const caller = await identifyAgain(context, call, operation.scope);
  if ("status" in caller) return caller;
  const path = pathOf(operation, fields);
  const { keyId } = caller;
  const identify = (meaning: string) =>
    isDryRun ? undefined : identifyRequest(keyId, key, operation.method, path, meaning);
  const isMaking = operation.kind === "making";
  const once = isMaking ? identify(meaningOf(fields) + (file?.digest ?? "")) : undefined;
  const actor = { keyId, requestId, ...(once && { once }) };
  const passed = { ...call, caller, actor, isDryRun, file: file?.descriptor, identify };
  const run = () => operation.run(context, passed, fields);
  return await (once ? makeOnce(context, operation, once, run) : run());
}

/** The same operation. If it changes something, its requests pass the gate. */
export function gated<T extends Handled | ChangeOperation>(operation: T): T & Handled {
  if (!("run" in operation)) return operation as T & Handled;
  return { ...operation, handle: (context, call) => passGate(context, call, operation) };
}

type Handled = Pick<Operation, "handle">;

async function readRequest(call: Call, operation: ChangeOperation): Promise<Sent> {
  const { request } = call;
  const key = idempotencyKeyIn(request);
  const parameters = parametersIn(request);
  if (!operation.body) return { fields: parameters, key };
  const text = await readJsonText(request, operation);
  const parse = operation.parse ?? ((body) => parseFields(body, operation.known?.fields ?? []));
  return { fields: { ...(text === "" ? {} : parse(text)), ...parameters }, key };
}

/** Keeps the file until it is complete, so that an upload that trickles holds no place. */
async function receiveFile(
  { admin }: Context,
  { request, caller }: Call,
  opened: AsyncDisposableStack,
): Promise<SentFile> {
  const leave = await admin.places.uploads.enter(caller, request.signal);
  try {
    const hash = createHash("sha256");
    const chunks = readChunks(request, admin.importBytesMax, admin.stopping);
    const hashed = (async function* () {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    })();
    const { descriptor } = opened.use(await spool(hashed));
    return { descriptor, digest: hash.digest("hex") };
  } finally {
    leave();
  }
}

function enterPlace({ admin }: Context, { request, caller }: Call): Promise<() => void> {
  const timeout = AbortSignal.timeout(placeMsMax);
  const signal = AbortSignal.any([request.signal, admin.stopping, timeout]);
  return admin.places.work.enter(caller, signal);
}

function pathOf({ path }: ChangeOperation, fields: Fields): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => textOf(fields, name) ?? "");
}

/** All fields as one text, whatever their order. */
function meaningOf(fields: Fields): string {
  const sorted = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(sorted);
}

/**
 * Makes something, unless a request with the same key has made it. The store remembers the key in the
 * transaction that makes it. For what is outside the store, it is remembered before.
 */
async function makeOnce(
  { store: { made }, clock }: Context,
  { isOutside }: ChangeOperation,
  once: Once,
  run: () => Promise<Reply> | Reply,
): Promise<Reply> {
  const found = await made.findMade(once.key);
  if (found) throw alreadyMade(found, once);
  if (isOutside && !(await made.reserveMade(once, clock.now()))) {
    throw alreadyMade((await made.findMade(once.key)) ?? { ...once, id: null }, once);
  }
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Another request with the key was quicker. This one may have failed because of what that one made.
    const other = await made.findMade(once.key).catch(() => undefined);
    if (other && (other.id !== null || !isOutside)) throw alreadyMade(other, once);
    // With a reason, it failed in the store, and may be made.
    if (isOutside && error.reason === undefined) await made.releaseMade(once);
    throw error;
  }
}

function alreadyMade({ request, id }: Made, once: Once): ServiceError {
  if (request !== once.request) return reusedKey();
  return id === null
    ? new ServiceError("idempotency_conflict", madeUnknown)
    : new DetailedError("idempotency_conflict", madeBefore(id), [{ id }]);
}

export const madeBefore = (id: string) =>
  `The request was made before with this Idempotency-Key, and has made ${id}. Nothing was made again.`;
const madeUnknown =
  "The request was made before with this Idempotency-Key. It is under way, or its outcome is not known.";
