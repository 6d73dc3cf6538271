import { setTimeout as sleep } from "node:timers/promises";
import { type CommittedGroup, createCommitter } from "../domain/commits/commits.ts";
import { createFollower, type Follower } from "../domain/inventory/follower.ts";
import type { HeadWatcher } from "../domain/ledger/head.ts";
import { monotonicMs } from "../domain/running/background.ts";
import { ServiceError } from "../domain/running/errors.ts";
import type { Store } from "../domain/store.ts";
import { createListBodies } from "../http/list/body.ts";
import { createListEncodings } from "../http/list/encodings.ts";
import { createInventoryList } from "../http/list/list.ts";
import { createReaders } from "../http/list/readers.ts";
import type { Context } from "../http/pipeline/context.ts";
import { createSnapshotResponses } from "../http/snapshots/responses.ts";
import type { Engine } from "../opening/engines.ts";
import type { ServiceOptions } from "./options.ts";

/** Opens the shop and its list, and reads the inventory for the first time. */
export async function openShop(
  { config, clock, log }: ServiceOptions,
  store: Store,
  head: HeadWatcher,
  engine: Pick<Engine, "patienceMs" | "grouping" | "idempotencyReachMs">,
  onGroup: readonly ((group: CommittedGroup) => void)[],
): Promise<Omit<Context, "feed" | "requests" | "admin">> {
  const { patienceMs, grouping, idempotencyReachMs } = engine;
  const readers = createReaders(config.listHeldBytesMax, monotonicMs, log);
  const versions = createInventoryList(config.listChunkEntries, readers.supersede);
  const follower = createFollower({ ...store.inventory, readHead: head.readHead }, versions, log);
  await firstCatchUp(follower, patienceMs);
  head.subscribe({ rowsCommitted: follower.committed, headMoved: follower.headMoved });
  const bounds = {
    groupMax: config.writesPerGroupMax,
    queueMax: config.writesWaitingMax,
    timeoutMs: config.updateTimeoutMs,
    grouping,
  };
  const committer = createCommitter(store.inventory, bounds, monotonicMs, head.committed, onGroup);
  const encodings = createListEncodings(monotonicMs);
  const bodies = createListBodies(readers, monotonicMs);
  const snapshots = createSnapshotResponses(config.snapshots, monotonicMs, log);
  return {
    store,
    clock,
    head,
    committer,
    follower,
    idempotencyReachMs,
    list: { versions, encodings, bodies },
    snapshots,
  };
}

/** The time between two attempts to read a database that is unavailable at the start. */
const retryMs = 500;

/** Retries while the database is unavailable, for example during a failover. */
async function firstCatchUp(follower: Follower, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    try {
      return await follower.catchUp();
    } catch (error) {
      if (follower.fault !== undefined) throw new ServiceError("unavailable", follower.fault);
      const isTemporary = error instanceof ServiceError && error.code === "unavailable";
      if (!isTemporary || performance.now() > giveUpAt) throw error;
      await sleep(retryMs);
    }
  }
}
