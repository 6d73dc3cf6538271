import { type Verification, verify } from "../domain/verify.ts";
import { print } from "../output.ts";
import type { StoreInput } from "./with-store.ts";

/** Returns exit code 1 if the store has a fault. */
export async function verifyStore({ flags, store }: StoreInput<{ readonly json: boolean }>) {
  const found = await store.transfer.snapshot(verify);
  if (flags.json) print(JSON.stringify(found));
  else if (found.faultCount > 0) printFaults(found);
  else print(`No faults found in ${countsOf(found)}.`);
  return found.faultCount === 0 ? 0 : 1;
}

/** Prints a line for each fault that was kept, and the number of all faults. */
export function printFaults(found: Verification): void {
  const { faults, faultCount } = found;
  for (const fault of faults) print(fault);
  const noun = faultCount === 1 ? "fault" : "faults";
  const shown = faultCount > faults.length ? ` (the first ${faults.length} are shown)` : "";
  print(`${faultCount} ${noun} found${shown} in ${countsOf(found)}.`);
}

function countsOf({ rows, entries, pets }: Verification): string {
  return `${rows} ledger rows, ${entries} entries, ${pets} pets`;
}
