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
  const { urls, prepare, label } = parseAddress(url);
  const lanes: Lane[] = [];
  const find = createFinder({ urls, prepare, label });

  async function connect(): Promise<Session> {
    if (urls.length === 1) return openSession(urls[0]!, prepare);
    // Two tries: the host found last may have lost its place since.
    for (let attempt = 1; ; attempt++) {
      const host = await find.current();
      try {
        return await openSession(host, prepare);
      } catch (error) {
        find.forget(host);
        if (attempt === 2) throw error;
      }
    }
  }

  return {
    label,
    connect,
    lane(deadlineMs) {
      const lane = createLane(connect, deadlineMs);
      lanes.push(lane);
      return lane;
    },
    close() {
      for (const lane of lanes) lane.close();
    },
  };
}

/**
 * Finds the host that can be written. All hosts are asked at once, so that a silent one costs no
 * time, and all lanes share the answer, so that they agree.
 */
function createFinder({ urls, prepare }: Address) {
  let known: string | undefined;
  let finding: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const attempts = urls.map(async (url) => {
      const session = await openSession(url, prepare);
      session.close();
      return url;
    });
    try {
      known = await Promise.any(attempts);
      return known;
    } catch (failure) {
      // A wrong password is worth more to an operator than that no host would do.
      const errors = (failure as AggregateError).errors as unknown[];
      throw errors.find((error) => !isPassing(error)) ?? new UnwritableServer();
    }
  }

  return {
    current(): string | Promise<string> {
      if (known !== undefined) return known;
      finding ??= ask().finally(() => {
        finding = undefined;
      });
      return finding;
    },
    forget(url: string): void {
      if (known === url) known = undefined;
    },
  };
}
