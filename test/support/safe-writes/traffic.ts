import { slownessMax } from "../until.ts";
import { versionIn } from "./checker.ts";
import { type Answer, type EntryRead, isAcknowledged, type Write } from "./history.ts";
import { type Cut, cuts, type SentRequest, sendOnce } from "./requests.ts";

/** Where clients send their requests. Each instance may be down at any time. */
export interface Target {
  readonly instances: number;
  /** The current address of an instance. */
  baseUrl(index: number): string;
  readonly key: string;
  /** Pets that only deltas change. */
  readonly counted: readonly bigint[];
  /** Pets whose quantity is set. */
  readonly set: readonly bigint[];
}

export interface SafeTraffic {
  readonly writes: readonly Write[];
  readonly reads: readonly EntryRead[];
  /** Answers that no fault explains. */
  readonly surprises: readonly string[];
  /** Resolves once this many more writes were acknowledged. */
  more(count: number): Promise<void>;
  /** Clients stop where they are. Writes that were not acknowledged stay so. */
  end(): Promise<void>;
}

const random = (count: number) => Math.floor(count * Math.random());
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!;

/** Clients that write, lose the answer or give up, and send the same write again. */
export function startSafeTraffic(target: Target, clients: number, pauseMsMax = 0): SafeTraffic {
  const writes: Write[] = [];
  const reads: EntryRead[] = [];
  const surprises: string[] = [];
  let isEnded = false;
  let acknowledged = 0;
  const authorization = { Authorization: `Bearer ${target.key}` };

  const send = (request: SentRequest, cut?: Cut) =>
    sendOnce(
      target.baseUrl(random(target.instances)),
      { ...request, headers: { ...authorization, ...request.headers } },
      cut,
    );

  async function read(petId: bigint): Promise<{ tag: string; version: number } | undefined> {
    const start = performance.now();
    const answer = await send({ method: "GET", path: `/inventory/${petId}`, headers: {} });
    const end = performance.now();
    if (answer?.status !== 200) {
      if (answer && answer.status !== 503) surprises.push(`GET: ${answer.text}`);
      return undefined;
    }
    const tag = answer.headers.get("etag")!;
    const version = versionIn(tag);
    const quantity = Number(/"quantity":(\d+)/.exec(answer.text)![1]);
    reads.push({ petId, quantity, version, start, end });
    return { tag, version };
  }

  /** Chooses a write. Undefined if the entry that it would replace could not be read. */
  async function choose(id: string): Promise<[Write, SentRequest] | undefined> {
    const begin = (method: Write["method"], changes: Write["changes"]): Write => {
      const start = performance.now();
      return { id, method, changes, start, end: Infinity, answers: [], unanswered: 0 };
    };
    const batch = (changes: Write["changes"]): [Write, SentRequest] => [
      begin("POST", changes),
      { method: "POST", path: "/changes", headers: {}, body: batchBody(id, changes) },
    ];
    if (random(10) < 5) {
      const changes = Array.from({ length: 1 + random(3) }, () => ({
        petId: oneOf(target.counted),
        delta: random(9) - 3,
      }));
      return batch(changes);
    }
    const petId = oneOf(target.set);
    const quantity = Number(id.slice(1));
    const isConditional = random(4) > 0;
    const seen = isConditional ? await read(petId) : undefined;
    if (isConditional && !seen) return undefined;
    const change = { petId, quantity, expected: seen?.version };
    if (random(3) === 0) return batch([change, { petId: oneOf(target.counted), delta: 1 }]);
    const headers: Record<string, string> = { "X-Change-Reason": id };
    if (seen) headers["If-Match"] = seen.tag;
    const path = `/inventory/${petId}`;
    const request = { method: "PATCH", path, headers, body: `{"quantity":${quantity}}` };
    return [begin("PATCH", [change]), request];
  }

  /** Sends a write until it is answered, and sometimes once more. */
  async function settle(write: Write, request: SentRequest): Promise<void> {
    const headers = { ...request.headers, "Idempotency-Key": `"${write.id}"` };
    for (let left = random(4) === 0 ? 2 : 1; left > 0 && !isEnded; ) {
      const cut = random(10) < 4 ? oneOf(cuts) : undefined;
      const answer = await send({ ...request, headers }, cut);
      if (!answer || answer.status === 503) {
        write.unanswered += 1;
        await Bun.sleep(Math.max(20, pauseMsMax) * Math.random());
        continue;
      }
      left -= 1;
      if (answer.status >= 500) surprises.push(`${request.method}: ${answer.text}`);
      const { status, text } = answer;
      const isReplayed = answer.headers.get("idempotent-replayed") === "true";
      const seen: Answer = { status, text, etag: answer.headers.get("etag"), isReplayed };
      write.answers.push(seen);
      write.end = Math.min(write.end, performance.now());
      if (![200, 409, 412].includes(status)) surprises.push(`${request.method}: ${text}`);
      if (status !== 200) return;
    }
    if (isAcknowledged(write)) acknowledged += 1;
  }

  let lastId = 0;
  async function runClient(): Promise<void> {
    while (!isEnded) {
      const chosen = await choose(`w${++lastId}`);
      if (!chosen) {
        await Bun.sleep(20);
        continue;
      }
      writes.push(chosen[0]);
      await settle(...chosen);
      if (pauseMsMax > 0) await Bun.sleep(pauseMsMax * Math.random());
    }
  }

  const all = Promise.all(Array.from({ length: clients }, runClient));
  // `more` and `end` report the failure.
  all.catch(() => {});

  return {
    writes,
    reads,
    surprises,
    async more(count) {
      const enough = acknowledged + count;
      const giveUpAt = performance.now() + 30_000 * slownessMax;
      const progress = (async () => {
        while (acknowledged < enough && !isEnded) {
          if (performance.now() > giveUpAt) throw new Error("writes do not come through");
          await Bun.sleep(10);
        }
      })();
      await Promise.race([progress, all]);
    },
    async end() {
      isEnded = true;
      await all;
    },
  };
}

function batchBody(id: string, changes: Write["changes"]): string {
  const written = changes.map(({ petId, quantity, delta, expected }) => {
    const amount = quantity === undefined ? `"delta":${delta}` : `"quantity":${quantity}`;
    const version = expected === undefined ? "" : `,"expectedVersion":${expected}`;
    return `{"petId":${petId},${amount}${version},"reason":"${id}"}`;
  });
  return `{"changes":[${written.join()}]}`;
}
