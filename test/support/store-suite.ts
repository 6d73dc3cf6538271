import { afterEach, beforeEach, describe, expect } from "bun:test";
import { commandImport } from "../../src/domain/import-preview.ts";
import { digestOf } from "../../src/domain/keys.ts";
import type { Store } from "../../src/domain/ports.ts";
import { verify } from "../../src/domain/verify.ts";
import { anEntry } from "./audit.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { petRow } from "./pets.ts";
import { describeCheckpoints } from "./store-suite/checkpoints.ts";
import { describeConstraints } from "./store-suite/constraints.ts";
import { describeEpochs } from "./store-suite/epochs.ts";
import { describeGroups } from "./store-suite/groups.ts";
import { describeHistory } from "./store-suite/history.ts";
import { describeIdempotency } from "./store-suite/idempotency.ts";
import { describeImports } from "./store-suite/imports.ts";
import { describeKeptKeys } from "./store-suite/kept-keys.ts";
import { describeKeys } from "./store-suite/keys.ts";
import { describeMaintenance } from "./store-suite/maintenance.ts";
import { describePages } from "./store-suite/pages.ts";
import { describePets } from "./store-suite/pets.ts";
import { describeSharing } from "./store-suite/sharing.ts";
import { batchesOf, keyNamed, type StorePlace, type StoreSuite } from "./store-suite/suite.ts";
import { describeUndo } from "./store-suite/undo.ts";
import { describeUnits } from "./store-suite/units.ts";
import { describeWebhooks } from "./store-suite/webhooks.ts";
import { setUnit } from "./units.ts";

export type { StorePlace } from "./store-suite/suite.ts";

/**
 * What every engine has to do, written once. An engine joins with one call. A variant of a connection
 * that another call tests whole needs only the part that depends on the connection.
 */
export function storeSuite(
  name: string,
  enter: (clock: TestClock) => Promise<StorePlace>,
  isVariant = false,
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
    describeGroups(suite);
    describeUnits(suite);
    describeIdempotency(suite);
    describeEpochs(suite);
    describePages(suite);
    describeHistory(suite);
    describeImports(suite);
    describeSharing(suite);
    describeKeys(suite);
    if (isVariant) return;
    describeKeptKeys(suite);
    describeUndo(suite);
    describeCheckpoints(suite);
    describeConstraints(suite);
    describeWebhooks(suite);
    describeMaintenance(suite);
    describePets(suite);
  });
}
