import { type Verification, verify } from "../domain/verify.ts";
import { print } from "../output.ts";
import { withStore } from "./with-store.ts";

/** Exit code 0 when everything in the store agrees with everything else, 1 when it does not. */
export function verifyStore(words: string[]): Promise<number> {
  return withStore(words, { json: { type: "boolean" } }, [], async ({ flags, store }) => {
    const found = await store.transfer.snapshot(verify);
    if (flags.json) print(JSON.stringify(found));
    else {
      printFaults(found);
      if (found.faultCount === 0) print(`All is well: ${countsOf(found)}.`);
    }
    return found.faultCount === 0 ? 0 : 1;
  });
}

/** One line a fault, as many as were kept, and how many there are. */
export function printFaults(found: Verification): void {
  const { faults, faultCount } = found;
  if (faultCount === 0) return;
  for (const fault of faults) print(fault);
  const rest = faultCount > faults.length ? `, the first ${faults.length} above` : "";
  const noun = faultCount === 1 ? "fault" : "faults";
  print(`Not well: ${faultCount} ${noun}${rest}; ${countsOf(found)}.`);
}

function countsOf({ rows, entries, pets }: Verification): string {
  return `${rows} ledger rows, ${entries} entries, ${pets} pets`;
}
