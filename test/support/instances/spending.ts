import { until } from "../until.ts";
import type { Fleet } from "./fleet.ts";
import { lost } from "./recording.ts";

/** What one window admitted, according to the responses. */
export interface SpentWindow {
  /** The end of the window that the headers describe, in Unix seconds. */
  readonly resetAt: number;
  admitted: number;
  /** Numbers of the instances that rejected a request in it. */
  readonly refusedBy: Set<number>;
}

/** Clients that exhaust one key's requests on every instance at once. */
export interface Spending {
  /** Responses that are neither 200 nor 429, nor during faults 503. */
  readonly surprises: readonly string[];
  window(resetAt: number): SpentWindow;
  windows(): readonly SpentWindow[];
  admitted(): number;
  moreAdmitted(count: number): Promise<unknown>;
  /** Resolves once each of these instances has rejected a request in the window. */
  usedUp(resetAt: number, indexes?: readonly number[]): Promise<unknown>;
  end(): Promise<void>;
}

const patienceMs = 20_000;

export function startSpending(
  fleet: Fleet,
  key: string,
  clientsEach: number,
  { hasFaults = false } = {},
): Spending {
  const windows = new Map<number, SpentWindow>();
  const surprises: string[] = [];
  let admitted = 0;
  let ended = false;

  function window(resetAt: number): SpentWindow {
    let found = windows.get(resetAt);
    if (!found) {
      found = { resetAt, admitted: 0, refusedBy: new Set() };
      windows.set(resetAt, found);
    }
    return found;
  }

  async function spend(index: number): Promise<void> {
    while (!ended && !fleet.isOver) {
      const response = await fleet.call(index, "HEAD", "/inventory", { key }).catch(lost);
      if (hasFaults && (!response || response.status === 503)) {
        await Bun.sleep(20);
        continue;
      }
      if (!response) throw new Error(`the connection to instance ${index} was lost`);
      const { status, headers } = response;
      const spent = window(Number(headers.get("x-ratelimit-reset")));
      if (status === 200) {
        spent.admitted += 1;
        admitted += 1;
      } else if (status === 429) {
        spent.refusedBy.add(index);
        await Bun.sleep(3);
      } else surprises.push(`${status} from instance ${index}`);
    }
  }

  const everybody = Array.from({ length: fleet.size }, (_, index) => index);
  const clients = everybody.flatMap((index) =>
    Array.from({ length: clientsEach }, () => spend(index)),
  );
  const all = Promise.all(clients);
  const orFailure = (wait: Promise<unknown>) => Promise.race([wait, all]);
  all.catch(() => {});

  return {
    surprises,
    window,
    windows: () => [...windows.values()],
    admitted: () => admitted,
    moreAdmitted(count) {
      const enough = admitted + count;
      return orFailure(until(() => admitted >= enough, patienceMs, `${count} admissions`));
    },
    usedUp(resetAt, indexes = everybody) {
      const isUsedUp = () => indexes.every((index) => window(resetAt).refusedBy.has(index));
      return orFailure(until(isUsedUp, patienceMs, "refusals everywhere"));
    },
    async end() {
      ended = true;
      await all;
    },
  };
}
