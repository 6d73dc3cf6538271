import { verify } from "../domain/verify.ts";
import { print, withStore } from "./open.ts";

/** Exit code 0 when the ledger and the inventory agree, 1 when they do not. */
export function verifyStore(words: string[]): Promise<number> {
  return withStore(words, { json: { type: "boolean" } }, [], async ({ flags, store }) => {
    const found = await store.snapshot(verify);
    if (flags.json) print(JSON.stringify(found));
    else {
      for (const fault of found.faults) print(fault);
      const counts = `${found.rows} ledger rows, ${found.entries} entries`;
      print(found.faults.length === 0 ? `All is well: ${counts}.` : `Not well: ${counts}.`);
    }
    return found.faults.length === 0 ? 0 : 1;
  });
}
