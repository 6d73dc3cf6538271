import type { KeyStore } from "../keys/store.ts";
import {
  every,
  inTurn,
  isUnavailable,
  monotonicMs,
  whileAvailable,
} from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { ErrorCode } from "../running/errors.ts";
import type { Log } from "../running/events.ts";
import { keptPerCode, type RefusedRequest, type RequestError, type RequestStore } from "./store.ts";

/** A request that has just got an error. */
export interface JustRefused extends Pick<RefusedRequest, "requestId"> {
  readonly error: Omit<RequestError, "at">;
  /** When it arrived, by the clock that never jumps. */
  readonly startedMs: number;
  /** The digest of the secret that was sent with it, if no valid key has it. */
  readonly digest?: string | undefined;
}

export type RequestRecorder = ReturnType<typeof createRequestRecorder>;

interface RecorderStore {
  readonly requests: Pick<RequestStore, "addRequests">;
  readonly keys: Pick<KeyStore, "findSecret">;
}

const saveEveryMs = 1_000;

/** Requests that one transaction stores, on SQLite in a few milliseconds. */
const groupMax = 200;

/** More than this is not kept, for example while the store cannot be written. */
const unsavedMax = 1_000;

/** The end of the ledger is known for the last two minutes. */
const marksMax = 120;

/**
 * Keeps the requests that got an error, and stores them in the background. `lastSeq` returns the last ledger
 * row that is known to be committed.
 */
export function createRequestRecorder(
  store: RecorderStore,
  clock: Clock,
  lastSeq: () => number,
  log: Log,
) {
  const unsaved: (RefusedRequest & Pick<JustRefused, "digest">)[] = [];
  /** Requests since the last save, by key and code. More than the store keeps are not sent to it. */
  const counts = new Map<string, number>();
  const marks = [{ ms: monotonicMs(), seq: lastSeq() }];
  let dropped = 0;
  const save = inTurn(saveNow);

  async function saveNow(): Promise<void> {
    marks.push({ ms: monotonicMs(), seq: lastSeq() });
    if (marks.length > marksMax) marks.shift();
    while (unsaved.length > 0) {
      const group = unsaved.slice(0, groupMax);
      try {
        await store.requests.addRequests(await Promise.all(group.map(withKey)));
      } catch (error) {
        if (isUnavailable(error)) throw error;
        // Otherwise a request that the store never accepts would keep out all that follow.
        unsaved.splice(0, group.length);
        dropped += group.length;
        throw error;
      }
      unsaved.splice(0, group.length);
    }
    counts.clear();
  }

  /** Finds the key of a secret that was revoked or has expired, so that its operator sees the client. */
  async function withKey({ digest, ...request }: (typeof unsaved)[number]) {
    const found = digest === undefined ? undefined : await store.keys.findSecret(digest);
    return found ? { ...request, keyId: found.key.id } : request;
  }

  const stopSaving = every(saveEveryMs, "saving refused requests", log, whileAvailable(save));

  return {
    /**
     * Returns at once, and never fails. A request is dropped if there is no room for it, and only counted.
     */
    record(keyId: string | null, code: ErrorCode, describe: () => JustRefused): void {
      const kind = `${keyId} ${code}`;
      const count = counts.get(kind) ?? 0;
      if (count >= keptPerCode || unsaved.length >= unsavedMax) {
        dropped += 1;
        return;
      }
      counts.set(kind, count + 1);
      const { requestId, startedMs, digest, error } = describe();
      const at = new Date(clock.now()).toISOString();
      const afterSeq = marks.findLast(({ ms }) => ms <= startedMs)?.seq ?? 0;
      unsaved.push({ requestId, keyId, afterSeq, digest, error: { at, ...error } });
    },
    /** A request that this process has not stored yet. */
    findUnsaved: (requestId: string): RefusedRequest | undefined =>
      unsaved.find((one) => one.requestId === requestId),
    dropped: () => dropped,
    save,
    /** Stops the timer, and saves everything if the store can be written. */
    async stop(): Promise<void> {
      stopSaving();
      await whileAvailable(save)();
    },
  };
}
