// What clients are promised while clocks jump. Each promise is checked after every step of a clock.
import { dayMs } from "../../src/domain/values/times.ts";
import type { Round } from "../part.ts";

const hourMs = 3_600_000;
export const perMinute = 5;
/** The longest ban of the service, as its flags set it. */
export const banMinutes = 10;
/** A clock that is set back by this much is not corrected. */
const setBackSeconds = 10;

/** A step of a clock that has just happened. */
export interface Step {
  readonly name: string;
  /** By how much it moved the clock that limits, bans and the times of rows follow. */
  readonly movedMs: number;
  /** By how much the clock of the first instance, which sessions and expiry follow, is ahead. */
  readonly aheadMs: number;
  /** The minute of the limiter's clock. */
  minute(): number;
  /** The minute after a step back or forward, or that of the last check if there was none. */
  readonly minuteBefore: number;
}

export interface Caller {
  readonly round: Round;
  readonly keys: { limited: string; banned: string; expiring: string; load: string };
  /** A moment before the first step, and the inventory of it. */
  readonly moment: string;
  snapshot?: string;
  /** How many steps were checked. */
  steps: number;
  /** The minutes in which the limit was used up. */
  readonly usedMinutes: Set<number>;
  /** When the bans of the key end that is banned again and again, the last one first. */
  readonly bans: number[];
  /** The header of a session of the first instance. */
  readonly cookie: string;
  /** Sends a request to the first instance, or to any. */
  send(path: string, key: string, init?: RequestInit & { isAny?: boolean }): Promise<Response>;
}

export async function checkPromises(caller: Caller, step: Step): Promise<void> {
  await checkReplay(caller, step);
  await checkBan(caller, step);
  await checkLimit(caller, step);
  await checkExpiry(caller, step);
  const response = await caller.send(`/snapshots/${caller.moment}`, caller.keys.load);
  const snapshot = await response.text();
  caller.snapshot ??= snapshot;
  if (snapshot !== caller.snapshot)
    fail(caller, step, "the inventory of an earlier moment differs");
}

function fail(
  { round }: Caller,
  { name }: Step,
  what: string,
  wrong: "wrong" | "doubled" = "wrong",
) {
  round.fail(wrong, `${what} (after: ${name})`);
}

/** Repeats all keyed updates so far, which are minutes old at most, and sends the next one. */
async function checkReplay(caller: Caller, step: Step): Promise<void> {
  for (let number = 0; number <= caller.steps; number++) {
    const again = await keyedUpdate(caller, number);
    if (again.headers.get("Idempotent-Replayed") !== "true")
      fail(caller, step, `repeated update ${number} got ${again.status}, not a replay`, "doubled");
  }
  await keyedUpdate(caller, ++caller.steps);
}

export function keyedUpdate({ send, keys }: Caller, number: number): Promise<Response> {
  const headers = { "Idempotency-Key": `update-${number}` };
  const body = `{"quantity":${number}}`;
  return send("/inventory/21", keys.load, { method: "PATCH", body, headers, isAny: true });
}

async function codeOf(response: Response) {
  const resetAt = Number(response.headers.get("X-RateLimit-Reset"));
  const waitSeconds = Number(response.headers.get("Retry-After") ?? 0);
  const body = (await response.json()) as { code?: string };
  return { code: response.ok ? "admitted" : (body.code ?? ""), waitSeconds, resetAt };
}

/** Uses up the minute. A window that a step back repeats stays closed; a step forward opens one. */
async function checkLimit(caller: Caller, step: Step): Promise<void> {
  let admitted = 0;
  for (;;) {
    const response = await caller.send("/inventory/21", caller.keys.limited, { isAny: true });
    const { code, waitSeconds } = await codeOf(response);
    if (code === "admitted" && admitted <= perMinute) admitted += 1;
    else {
      if (code !== "rate_limit_exceeded") fail(caller, step, `a key at its limit got ${code}`);
      if (waitSeconds > 60 + setBackSeconds) fail(caller, step, `a key waits ${waitSeconds} s`);
      break;
    }
  }
  const isNew = !caller.usedMinutes.has(step.minuteBefore);
  caller.usedMinutes.add(step.minute());
  // The next minute may have begun meanwhile.
  if (step.minute() !== step.minuteBefore) return;
  const { movedMs } = step;
  if (admitted > (movedMs > 0 ? perMinute : 0))
    fail(caller, step, `a minute with a limit of ${perMinute} admitted ${admitted} more`);
  if (isNew && movedMs > 0 && admitted < perMinute)
    fail(caller, step, `a new minute admitted ${admitted}`);
}

/**
 * A ban that began just before a jump has ended, in either direction. Without a jump it goes on. An earlier
 * one may go on when the clock is back at its time.
 */
async function checkBan(caller: Caller, step: Step): Promise<void> {
  const ask = async () => codeOf(await caller.send("/inventory/21", caller.keys.banned));
  const [last, ...earlier] = caller.bans;
  const first = await ask();
  const isBanned = first.code === "key_banned";
  if (step.movedMs === 0 ? !isBanned : isBanned && !earlier.includes(first.resetAt))
    fail(caller, step, `a key that was banned until ${last} got ${JSON.stringify(first)}`);
  if (isBanned && first.waitSeconds > banMinutes * 60 + setBackSeconds)
    fail(caller, step, `a ban of at most ${banMinutes} minutes takes ${first.waitSeconds} s`);
  let answer = first;
  for (let requests = 0; answer.code !== "key_banned"; requests++) {
    if (requests > 100) return fail(caller, step, "a key is never banned");
    answer = await ask();
  }
  caller.bans.unshift(answer.resetAt);
}

async function checkExpiry(caller: Caller, step: Step): Promise<void> {
  const isLater = step.aheadMs > 300 * dayMs;
  const { send, keys } = caller;
  const expect = async (what: string, status: number, request: Promise<Response>) => {
    const response = await request;
    if (response.status !== status)
      fail(caller, step, `${what}: ${response.status}, not ${status}`);
  };
  await expect(
    "a key that ends in 200 days",
    isLater ? 401 : 200,
    send("/inventory", keys.expiring),
  );
  await expect("a path with a sunset in 200 days", isLater ? 410 : 200, send("/pets/1", keys.load));
  const headers = { Cookie: caller.cookie };
  // Whether a session that has ended comes back with the clock is not promised.
  if (isLater || step.aheadMs <= 2 * hourMs)
    await expect("a session", isLater ? 401 : 200, send("/admin/session", "", { headers }));
}
