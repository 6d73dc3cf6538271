import type { Manifest } from "../../backup/manifest.ts";
import { type LaterLedger, type Reach, readReach } from "../../backup/reach.ts";
import type { Backup } from "../../backup/reader.ts";
import { rowsUntil, type Undescribed } from "../../backup/until.ts";
import { type Config, readConfig } from "../../config.ts";
import type { Moment } from "../../domain/ledger/moments.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf } from "../../domain/verification/store.ts";
import { printWarning } from "../../output.ts";
import { sqlitePath } from "../../store-file.ts";
import { openRows } from "../../stores.ts";
import { open } from "./restored-store.ts";

/** A backup as of a moment of its ledger, or of a ledger that continues it. */
export interface BackupAt extends Backup {
  /** How messages name the backup with the later ledger. */
  readonly name: string;
  readonly reach: Reach;
  readonly backupAt: string;
  readonly undescribed: Undescribed;
}

/** Opens a ledger: for each time that it is read, because a backup can be read once. */
type OpenLedger = () => Promise<LaterLedger>;

/** `source` is a backup file, or the address of a store, as the flag --ledger has it. */
export async function openLater(
  source: string,
  config: Config,
  flags: Readonly<Record<string, unknown>>,
  opened: AsyncDisposableStack,
): Promise<OpenLedger> {
  if (!/^(?:sqlite|postgres|postgresql):/.test(source)) {
    return async () => {
      const { manifest, rowsOf } = await open(source, config);
      return { name: source, rowsOf, at: manifest.at };
    };
  }
  const store = readConfig(flags, undefined, "ledger");
  const name = sqlitePath(store) ?? "the other database";
  const rowsOf = asFarAsReadable(name, opened.use(await openRows(store)).rowsOf);
  return async () => ({ name, rowsOf });
}

/** A damaged store may have tables of which only some rows can be read. */
function asFarAsReadable(name: string, rowsOf: RowsOf): RowsOf {
  const warned = new Set<string>();
  return async function* (table) {
    try {
      yield* rowsOf(table);
    } catch (error) {
      if (warned.has(table)) return;
      warned.add(table);
      const reason = (error as Error).message;
      printWarning(`${name}: the table ${table} cannot be read to its end: ${reason}`);
    }
  };
}

/**
 * Opens a backup as of a moment, or of the last one that can be reached. Reads its whole ledger first,
 * which tells that, and the stock at the moment. Nothing is written.
 */
export async function openAt(
  file: string,
  config: Config,
  moment: Moment | undefined,
  openLedger: OpenLedger | undefined,
): Promise<BackupAt> {
  const ledger = await openLedger?.();
  const backup = await open(file, config);
  const reach = await readReach(file, backup, ledger, moment);
  const name = ledger ? `${file} with ${ledger.name}` : file;
  const isBeyond =
    moment && ("seq" in moment ? moment.seq > reach.last.seq : moment.time > reach.knownAt);
  if (isBeyond) {
    const problem = `cannot reach ${"seq" in moment ? `row ${moment.seq}` : moment.text}`;
    throw new ServiceError("invalid_request", `${problem}: ${reachText(name, reach)}`);
  }
  const { manifest, rowsOf } = await open(file, config);
  const later = (await openLedger?.())?.rowsOf ?? noRows;
  const { seq, hash, at } = reach.until;
  const found = rowsUntil(rowsOf, later, manifest.seq, reach);
  const rows: Record<string, number> = { ledger: seq };
  const manifestAt: Manifest = { ...manifest, seq, hash, at: new Date(at).toISOString(), rows };
  return {
    ...{ name, reach, manifest: manifestAt, backupAt: manifest.at },
    undescribed: found.undescribed,
    async *rowsOf(table) {
      rows[table] = 0;
      for await (const batch of found.rowsOf(table)) {
        rows[table] += batch.length;
        yield batch;
      }
    },
  };
}

async function* noRows(): AsyncGenerator<never> {}

/** Which moments can be reached, and what is in the way of later ones. */
export function reachText(name: string, { firstAt, last, knownAt, problem }: Reach): string {
  const [from, to] = [firstAt ?? knownAt, knownAt].map((at) => new Date(at).toISOString());
  const end = problem === undefined ? "" : `; ${problem}`;
  return `${name} reaches rows 0 to ${last.seq}, which is every moment from ${from} to ${to}${end}`;
}
