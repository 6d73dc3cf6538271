import type { Address } from "./address.ts";
import { isPassing, UnwritableServer } from "./failures.ts";
import type { PrimaryGuard } from "./primary.ts";
import { openSession, type Session } from "./session.ts";

/** The hosts of an address, of which one is the primary. */
export interface Hosts {
  /** A connection to the primary. */
  connect(): Promise<Session>;
  /** False once the primary is known to be another server than the session's. */
  isCurrent(session: Session): boolean;
  /** Opens a connection to every host, to learn of a new primary. Rejects if none is usable. */
  check(): Promise<void>;
}

/** How long lanes share the answer to the question which host is the primary. */
const foundGoodMs = 500;

/**
 * How long the hosts that have not answered yet are waited for once one has: longer at first,
 * when nothing is known that could tell an old primary from a new one. An answer that comes later
 * still counts, from then on.
 */
const firstWaitMs = 1_000;
const othersWaitMs = 200;

/**
 * All hosts are asked at once, so that a silent one costs no time. Two that take writes are an old
 * primary that does not know it was replaced, and the new one; the guard knows them by their
 * timelines, whichever answers first.
 */
export function createHosts({ urls, prepare }: Address, guard: PrimaryGuard): Hosts {
  let current: string | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  let finding: Promise<string> | undefined;

  async function open(url: string): Promise<Session> {
    const before = guard.newestTimeline;
    const session = await openSession(url, prepare, guard);
    if (guard.newestTimeline > before || current === undefined) current = url;
    return session;
  }

  /** Asks every host, each on a new connection; rejects as soon as all have failed. */
  function askAll(onAnswer: (session: Session) => void) {
    const attempts = urls.map(async (url) => {
      const session = await open(url);
      session.close();
      onAnswer(session);
    });
    return { first: Promise.any(attempts), all: Promise.allSettled(attempts) };
  }

  async function ask(): Promise<string> {
    const waitMs = current === undefined ? firstWaitMs : othersWaitMs;
    const answers: Session[] = [];
    const { first, all } = askAll((session) => answers.push(session));
    try {
      await first;
    } catch (failure) {
      // A wrong password is worth more to an operator than that no host would do.
      const errors = (failure as AggregateError).errors as unknown[];
      throw errors.find((error) => !isPassing(error)) ?? new UnwritableServer();
    }
    await Promise.race([all, Bun.sleep(waitMs)]);
    const usable = answers.filter(({ server }) => server.timeline === guard.newestTimeline);
    if (usable.length === 0) throw new UnwritableServer();
    // Two ways to one server: stay with the one in use as long as it answers.
    if (!usable.some(({ url }) => url === current)) current = usable[0]!.url;
    foundAt = performance.now();
    return current!;
  }

  function find(): string | Promise<string> {
    if (urls.length === 1) return urls[0]!;
    if (current !== undefined && performance.now() - foundAt < foundGoodMs) return current;
    finding ??= ask().finally(() => {
      finding = undefined;
    });
    return finding;
  }

  function isCurrent({ url, server }: Session): boolean {
    return server.timeline === guard.newestTimeline && (urls.length === 1 || url === current);
  }

  return {
    isCurrent,
    async connect() {
      const session = await open(await find());
      if (isCurrent(session)) return session;
      session.close();
      throw new UnwritableServer();
    },
    check: async () => void (await askAll(() => {}).first),
  };
}
