import type { History, Violation } from "./history.ts";
import { checkLateUpdates } from "./late-updates.ts";
import { checkLedger } from "./ledger.ts";
import { checkRegister, type RegisterRead } from "./register.ts";
import { checkSnapshots } from "./snapshots.ts";

/**
 * Returns everything in the history that is impossible for an inventory that applies one update at a
 * time and is read atomically. Empty for a linearizable history.
 *
 * The ledger gives the order of updates and is checked against what the clients saw. Because the
 * ledger may be wrong too, each pet is also checked by the clients' view alone.
 */
export function checkHistory(history: History): Violation[] {
  return [
    ...checkLedger(history),
    ...checkLateUpdates(history),
    ...checkSnapshots(history),
    ...checkPets(history),
  ];
}

function checkPets(history: History): Violation[] {
  const pets = new Set([
    ...history.initial.keys(),
    ...history.updates.map((update) => update.petId),
    ...history.reads.flatMap((read) => [...read.entries.keys()]),
  ]);
  const violations: Violation[] = [];
  for (const petId of pets) {
    const stuck = checkRegister(
      history.initial.get(petId),
      history.updates.filter((update) => update.petId === petId && update.outcome !== "refused"),
      history.reads.map((read): RegisterRead => ({ ...read, value: read.entries.get(petId) })),
    );
    if (stuck !== undefined) {
      violations.push({ kind: "not a register", message: `Pet ${petId}: ${stuck}` });
    }
  }
  return violations;
}
