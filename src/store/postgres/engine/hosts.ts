import { shared } from "../../../domain/running/background.ts";
import type { Address } from "./address.ts";
import { describeFailure, isTemporary, UnwritableServer } from "./failures.ts";
import type { PrimaryGuard } from "./primary.ts";
import { openSession, type Session, type Traffic } from "./session.ts";

/** How long connections share the result of a search for the primary. */
const primaryCachedMs = 500;

/**
 * How long the search waits for the remaining hosts after the first response. It waits longer the
 * first time, when no known timeline distinguishes an old primary from a new one. A later response
 * still counts for the next search.
 */
const firstWaitMs = 1_000;
const othersWaitMs = 200;

/**
 * The hosts of an address, one of which is the primary. Connects to all at once, so that a host that does
 * not respond costs no time. If two hosts accept writes, one is an old primary that does not know that it
 * was replaced. The guard compares their timelines, whichever responds first.
 */
export function createHosts({ urls, prepare }: Address, guard: PrimaryGuard, traffic: Traffic) {
  let current: string | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  const search = shared(searchPrimary);

  async function open(url: string): Promise<Session> {
    const before = guard.newestTimeline;
    const session = await openSession(url, prepare, guard, traffic);
    if (guard.newestTimeline > before || current === undefined) current = url;
    return session;
  }

  /** Opens and closes a session on every host. `first` rejects as soon as all have failed. */
  function probeAll(onResponse: (session: Session) => void) {
    const attempts = urls.map(async (url) => {
      const session = await open(url);
      session.close();
      onResponse(session);
    });
    return { first: Promise.any(attempts), all: Promise.allSettled(attempts) };
  }

  async function searchPrimary(): Promise<string> {
    const waitMs = current === undefined ? firstWaitMs : othersWaitMs;
    const responses: Session[] = [];
    const { first, all } = probeAll((session) => responses.push(session));
    try {
      await first;
    } catch (failure) {
      // A wrong password is more useful to an operator than the fact that no host is usable.
      const errors = (failure as AggregateError).errors as unknown[];
      throw (
        errors.find((error) => !isTemporary(error)) ?? new UnwritableServer(describeAll(errors))
      );
    }
    await Promise.race([all, Bun.sleep(waitMs)]);
    const usable = responses.filter(({ server }) => server.timeline === guard.newestTimeline);
    if (usable.length === 0) throw new UnwritableServer();
    // Two addresses may lead to one server. Keeps the one in use as long as it responds.
    if (!usable.some(({ url }) => url === current)) current = usable[0]!.url;
    foundAt = performance.now();
    return current!;
  }

  function findPrimary(): string | Promise<string> {
    if (urls.length === 1) return urls[0]!;
    if (current !== undefined && performance.now() - foundAt < primaryCachedMs) return current;
    return search();
  }

  /** False once another server than the session's is known to be the primary. */
  function isCurrent({ url, server }: Session): boolean {
    return server.timeline === guard.newestTimeline && (urls.length === 1 || url === current);
  }

  return {
    isCurrent,
    /** Opens a session on the primary. */
    async connect(): Promise<Session> {
      const session = await open(await findPrimary());
      if (isCurrent(session)) return session;
      session.close();
      throw new UnwritableServer();
    },
    /** Connects to every host to detect a new primary. Rejects if no host is usable. */
    check: async () => void (await probeAll(() => {}).first),
  };
}

/** The reasons why no host is usable, each once. */
function describeAll(errors: readonly unknown[]): string {
  return [...new Set(errors.map(describeFailure))].join("; ");
}
