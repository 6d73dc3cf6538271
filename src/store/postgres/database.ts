import { type Address, parseAddress } from "./address.ts";
import { isPassing, UnwritableServer } from "./failures.ts";
import { createLane, type Lane } from "./lane.ts";
import { openSession, type Session } from "./session.ts";

/** The database an address names: whichever of its hosts can be written at the moment. */
export interface Database {
  readonly label: string;
  /** A connection that its opener closes. */
  connect(): Promise<Session>;
  lane(deadlineMs: number): Lane;
  /** Cuts every lane. */
  close(): void;
}

export function createDatabase(url: string): Database {
  const address = parseAddress(url);
  const { urls, prepare, label } = address;
  const lanes: Lane[] = [];
  const finder = createFinder(address);
  const isCurrent = (session: Session) => urls.length === 1 || finder.isCurrent(session.url);

  async function connect(): Promise<Session> {
    if (urls.length === 1) return openSession(urls[0]!, prepare);
    const session = await openSession(await finder.find(), prepare);
    if (isCurrent(session)) return session;
    session.close();
    throw new UnwritableServer();
  }

  return {
    label,
    connect,
    lane(deadlineMs) {
      const lane = createLane(connect, isCurrent, deadlineMs);
      lanes.push(lane);
      return lane;
    },
    close() {
      for (const lane of lanes) lane.close();
    },
  };
}

/** How long an answer to the question for the host that can be written is good for others too. */
const foundGoodMs = 500;

/** How long hosts that have not answered yet are waited for once one has. */
const othersWaitMs = 200;

/**
 * Finds the host that can be written. All hosts are asked at once, so that a silent one costs no
 * time, and all lanes share the answer: one that stayed with another host would mix two states of
 * the store. Of two that can be written, one is an old primary that does not know it was replaced;
 * its timeline tells.
 */
function createFinder({ urls, prepare }: Address) {
  let current: string | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  let finding: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const writable: Session[] = [];
    const attempts = urls.map(async (url) => {
      const session = await openSession(url, prepare);
      session.close();
      writable.push(session);
    });
    const others = Promise.allSettled(attempts);
    try {
      await Promise.any(attempts);
    } catch (failure) {
      // A wrong password is worth more to an operator than that no host would do.
      const errors = (failure as AggregateError).errors as unknown[];
      throw errors.find((error) => !isPassing(error)) ?? new UnwritableServer();
    }
    await Promise.race([others, Bun.sleep(othersWaitMs)]);
    const latest = writable.reduce((one, other) => (other.timeline > one.timeline ? other : one));
    current = latest.url;
    foundAt = performance.now();
    return current;
  }

  return {
    find(): string | Promise<string> {
      if (current !== undefined && performance.now() - foundAt < foundGoodMs) return current;
      finding ??= ask().finally(() => {
        finding = undefined;
      });
      return finding;
    },
    /** Whether this is the host that was found last. */
    isCurrent: (url: string) => url === current,
  };
}
