import type { LedgerTail } from "../domain/ledger/tail.ts";
import { monotonicMs } from "../domain/running/background.ts";
import type { Store } from "../domain/store.ts";
import { isInForce } from "../domain/usage/usage.ts";
import { createFeed, type Feed } from "../http/feed/feed.ts";
import type { ServiceOptions } from "./options.ts";

/** A heartbeat is sent after this share of the time after which the server closes an idle connection. */
const heartbeatShare = 0.4;

export function openFeed(
  { config, log }: ServiceOptions,
  { usage, inventory }: Store,
  tail: LedgerTail,
): Feed {
  const { streamsPerKeyMax, streamsPerOperatorMax } = config;
  const { streamsMax, heartbeatMsMax, stallMs } = config.feed;
  const heartbeatMs = Math.min(heartbeatMsMax, config.idleTimeoutSeconds * 1_000 * heartbeatShare);
  const perKey = { streamsPerKeyMax, streamsPerOperatorMax };
  const bounds = { ...perKey, streamsMax, heartbeatMs, stallMs };
  const readBannedKeys = async () => {
    const now = await inventory.readClock();
    const bans = await usage.loadBans();
    return new Set(bans.filter((ban) => isInForce(ban, now)).map(({ keyId }) => keyId));
  };
  return createFeed({ tail, readBannedKeys, bounds, monotonicMs, log });
}
