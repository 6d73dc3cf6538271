import { ServiceError } from "../domain/running/errors.ts";
import type { KeptHash } from "../domain/verification/chain.ts";
import type { Snapshot } from "../domain/verification/store.ts";
import { type Verification, verify } from "../domain/verification/verify.ts";
import { sqlitePath } from "../opening/store-file.ts";
import { print } from "../output.ts";
import { describeLostRows, findLostRows } from "../store/sqlite/engine/mark.ts";
import { json } from "./command.ts";
import { counted } from "./paragraphs.ts";
import { withLedgerProgress } from "./progress.ts";
import { storeCommand } from "./store-command.ts";

/** Returns exit code 1 if the store has a fault. */
export const verifyCommand = storeCommand({
  name: "verify",
  summary: "Checks the whole store: ledger, hashes, inventory, keys and webhooks.",
  examples: ["petstore verify", "petstore verify --expect 1200:HASH"],
  flags: {
    expect: {
      placeholder: "SEQ:HASH",
      description: "Also check that row SEQ has this hash, as an earlier run printed it.",
    },
    json,
  },
  async run({ flags, store, config }) {
    const kept = parseKept(flags.expect);
    const checked = await store.transfer.snapshot((each) => verifyWithProgress(each, kept));
    const found = withLostRows(checked, sqlitePath(config));
    if (flags.json) print(JSON.stringify(found));
    else if (found.faultCount > 0) printFaults(found);
    else {
      print(`No faults found in ${countsOf(found)}.`);
      print(`The ledger ends at ${headOf(found)}`);
    }
    return found.faultCount === 0 ? 0 : 1;
  },
});

/** Adds what the mark of a SQLite store shows: a ledger that ends too early has no other fault. */
function withLostRows(found: Verification, path: string | undefined): Verification {
  const lost = path === undefined ? undefined : findLostRows(path);
  if (lost === undefined || lost === "unmarked") return found;
  const { faults, faultCount } = found;
  return { ...found, faults: [describeLostRows(lost), ...faults], faultCount: faultCount + 1 };
}

export function verifyWithProgress(snapshot: Snapshot, kept?: KeptHash): Promise<Verification> {
  return withLedgerProgress("Checking the ledger", snapshot, (rowsOf) =>
    verify({ ...snapshot, rowsOf }, kept),
  );
}

/** A row and its hash, as this command prints them. */
function parseKept(text: string | undefined): KeptHash | undefined {
  if (text === undefined) return undefined;
  const [, seq, hash] = /^(\d{1,16}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (hash !== undefined && Number.isSafeInteger(Number(seq))) {
    return { seq: Number(seq), hash: hash.toLowerCase() };
  }
  const rule = "must be SEQ:HASH, a row's number and its hash of 64 hexadecimal digits";
  throw new ServiceError("invalid_request", `--expect ${rule}`);
}

function headOf({ seq, hash }: Verification): string {
  return `${seq}:${hash}`;
}

/** Prints a line for each fault that was kept, and the number of all faults. */
export function printFaults(found: Verification): void {
  const { faults, faultCount } = found;
  for (const fault of faults) print(fault);
  const shown = faultCount > faults.length ? ` (the first ${faults.length} are shown)` : "";
  print(`${counted(faultCount, "fault")} found${shown} in ${countsOf(found)}.`);
}

function countsOf({ rows, entries, pets }: Verification): string {
  return `${rows} ledger rows, ${entries} entries, ${pets} pets`;
}
