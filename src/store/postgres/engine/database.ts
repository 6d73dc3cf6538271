import { every, inBackground } from "../../../domain/background.ts";
import type { Log } from "../../../domain/ports.ts";
import { parseAddress } from "./address.ts";
import { explain } from "./failures.ts";
import { createHosts } from "./hosts.ts";
import { createLane, type Lane } from "./lane.ts";
import { createPrimaryGuard, type PrimaryGuard } from "./primary.ts";
import type { Session } from "./session.ts";

/** The database an address names: on whichever of its servers is the primary at the moment. */
export interface Database {
  readonly label: string;
  readonly guard: PrimaryGuard;
  /** A connection that its opener closes. */
  connect(): Promise<Session>;
  /** False once the session's server is known to have been replaced. */
  isCurrent(session: Session): boolean;
  lane(deadlineMs: number): Lane;
  /** Opens every lane that is not open; false if one cannot be. */
  openLanes(): Promise<boolean>;
  /**
   * From now on asks every second which server is the primary, and opens lanes that were lost. A
   * connection that works says nothing about where a new one would lead.
   */
  watch(): void;
  /** Cuts every lane. */
  close(): void;
}

const watchEveryMs = 1_000;

export function createDatabase(url: string, log: Log = () => {}): Database {
  const address = parseAddress(url);
  const guard = createPrimaryGuard(log);
  const { connect, isCurrent, check } = createHosts(address, guard);
  const lanes: Lane[] = [];
  let stopWatching: (() => void) | undefined;
  let canCheck = true;
  let isUntold = true;

  /** Logged once: callers get 503, which does not tell why. */
  function tellUnprepared(error: unknown): void {
    if (!isUntold) return;
    isUntold = false;
    log("database keeps no prepared statements", { error: explain(error) });
  }

  async function openLanes(): Promise<boolean> {
    const opened = await Promise.allSettled(lanes.map((lane) => lane.open()));
    return opened.every(({ status }) => status === "fulfilled");
  }

  async function watchOnce(): Promise<void> {
    try {
      await check();
      canCheck = true;
    } catch (failure) {
      // Logged once: without this check a replaced primary may go unnoticed.
      const errors = (failure as AggregateError).errors.map(String);
      if (canCheck) log("database primary cannot be checked", { errors });
      canCheck = false;
    }
    await openLanes();
  }

  return {
    label: address.label,
    guard,
    connect,
    isCurrent,
    lane(deadlineMs) {
      const lane = createLane(connect, isCurrent, deadlineMs, tellUnprepared);
      lanes.push(lane);
      return lane;
    },
    openLanes,
    watch() {
      // Does not wait for the check before: one that hangs must not hide a new primary.
      const name = "watching the primary";
      stopWatching ??= every(watchEveryMs, name, log, inBackground(name, log, watchOnce));
    },
    close() {
      stopWatching?.();
      for (const lane of lanes) lane.close();
    },
  };
}
