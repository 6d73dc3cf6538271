import { afterEach, beforeEach, describe, expect } from "bun:test";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import type { Store } from "../../src/domain/store.ts";
import { verify } from "../../src/domain/verification/verify.ts";
import { anEntry } from "./audit.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { petRow } from "./pets.ts";
import {
  describeCheckpointRules,
  describeCheckpoints,
  describeCheckpointWrites,
} from "./store-suite/checkpoints.ts";
import { describeConstraints } from "./store-suite/constraints.ts";
import { describeCounts } from "./store-suite/counts.ts";
import { describeEpochs } from "./store-suite/epochs.ts";
import { describeGroups } from "./store-suite/groups.ts";
import { describeHistory } from "./store-suite/history.ts";
import { describeIdempotency } from "./store-suite/idempotency.ts";
import { describeIdempotencyKeeping } from "./store-suite/idempotency-keeping.ts";
import { describeImports } from "./store-suite/imports.ts";
import { describeKeys } from "./store-suite/keys.ts";
import { describeMade } from "./store-suite/made.ts";
import { describeMaintenance } from "./store-suite/maintenance.ts";
import { describeOperators } from "./store-suite/operators.ts";
import { describePages } from "./store-suite/pages.ts";
import { describePets } from "./store-suite/pets.ts";
import { describeSales } from "./store-suite/sales.ts";
import { describeSharing } from "./store-suite/sharing.ts";
import { batchesOf, keyNamed, type StorePlace, type StoreSuite } from "./store-suite/suite.ts";
import { describeUndo, describeUndoRules } from "./store-suite/undo.ts";
import { describeUnitRules, describeUnits } from "./store-suite/units.ts";
import { describeUsageHistory } from "./store-suite/usage-history.ts";
import { describeWebhooks, describeWebhookWrites } from "./store-suite/webhooks.ts";
import { setUnit } from "./units.ts";

export type { StorePlace } from "./store-suite/suite.ts";

type Part = (suite: StoreSuite) => void;

/** What depends on how updates reach the database, and on other stores beside this one. */
const updates: readonly Part[] = [
  describeGroups,
  describeUnits,
  describeCounts,
  describeIdempotency,
  describeEpochs,
  describeSharing,
  describeKeys,
];
const reads: readonly Part[] = [describePages, describeHistory, describeImports];
/** Every other method that writes. */
const otherWrites: readonly Part[] = [
  describeIdempotencyKeeping,
  describeCheckpointWrites,
  describeWebhookWrites,
  describeMade,
  describeMaintenance,
  describeOperators,
  describePets,
  describeUsageHistory,
  describeSales,
];

/** What a connection needs if another call tests its engine whole: each kind of value both ways. */
export const connectionParts: readonly Part[] = [describeIdempotency, describePages, describeKeys];

/**
 * What a writer on a thread needs if another call tests its engine whole. Reads do not use the
 * thread, and it calls every method in the same way.
 */
export const writerParts: readonly Part[] = [
  ...updates,
  describeIdempotencyKeeping,
  describeCheckpointWrites,
  describeMade,
  describePets,
];

/** What an engine needs if another one is tested with all parts. */
export const engineParts: readonly Part[] = [
  ...updates,
  ...reads,
  ...otherWrites,
  describeUndo,
  describeCheckpoints,
  describeConstraints,
  describeWebhooks,
];

/** With the rules that all engines share. */
const allParts: readonly Part[] = [
  ...engineParts,
  describeUnitRules,
  describeUndoRules,
  describeCheckpointRules,
];

/** What every engine has to do, written once. An engine joins with one call. */
export function storeSuite(
  name: string,
  enter: (clock: TestClock) => Promise<StorePlace>,
  parts: readonly Part[] = allParts,
): void {
  describe(name, () => {
    let clock: TestClock;
    let place: StorePlace;
    let store: Store;
    beforeEach(async () => {
      clock = createTestClock();
      place = await enter(clock);
      store = await place.open();
    });
    afterEach(() => place.remove());

    const suite: StoreSuite = {
      isWhole: parts !== connectionParts && parts !== writerParts,
      get clock() {
        return clock;
      },
      get place() {
        return place;
      },
      get store() {
        return store;
      },
      set store(opened) {
        store = opened;
      },
      enterAnother: () => enter(clock),
      add: (...rows) =>
        store.catalogue.importPets(batchesOf(rows.map(petRow)), commandImport("test")),
      ledger: async () => store.inventory.ledgerAfter(0, 1_000),
      entries: async () => store.inventory.entriesAfter(null, 1_000),
      set: (petId, quantity, reason = null) =>
        setUnit(petId, quantity, { keyId: "key_a", requestId: `req_${quantity}`, reason }),
      async expectSound() {
        await store.keys.addKey(keyNamed("key_a"), digestOf("key_a"), anEntry);
        expect((await store.transfer.snapshot(verify)).faults as unknown).toEqual([]);
      },
    };
    for (const describePart of parts) describePart(suite);
  });
}
