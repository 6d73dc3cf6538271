import { type Config, readConfig } from "../../config.ts";
import { type Moment, resolveMoments } from "../../domain/ledger/moments.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf } from "../../domain/verification/store.ts";
import { systemClock } from "../../engines.ts";
import { print, printNote, printWarning } from "../../output.ts";
import { addLaterRows, endAt } from "../../store/sqlite/moment.ts";
import { sqlitePath } from "../../store-file.ts";
import { openStore, readRows } from "../../stores.ts";
import { counted } from "../paragraphs.ts";
import { open, type Restored, restoreAndVerify, verifyAgainst } from "./restored-store.ts";
import { whileRoom } from "./room.ts";

/** What the flags of `restore` ask for. */
export interface Wanted {
  /** Undefined is the last moment that can be reached. */
  readonly moment: Moment | undefined;
  /** A later ledger: a backup file, or the address of a store. */
  readonly ledger?: string | undefined;
  readonly isDryRun: boolean;
}

/**
 * Restores a backup to a new SQLite file, adds the rows of a later ledger, says which moments can be
 * reached, lets the store end at the moment, and verifies it again. A dry run stops before that.
 */
export async function restoreMoment(
  file: string,
  path: string,
  config: Config,
  { moment, ledger, isDryRun }: Wanted,
): Promise<Restored> {
  const restored = await restoreAndVerify(file, path, config);
  if (!moment && ledger === undefined && !isDryRun) return restored;
  const { manifest } = restored;
  const added: Added = ledger === undefined ? manifest : await addLater(ledger, path, config);
  const store = await openStore({ ...config, databaseUrl: `sqlite:${path}` }, systemClock);
  try {
    const last = await store.history.readTip();
    const [first = last] = await store.inventory.ledgerAfter(0, 1);
    const knownAt = Math.max(last.at, Date.parse(added.at ?? manifest.at));
    const times = [first.at, knownAt].map((time) => new Date(time).toISOString()).join(" to ");
    const all = `rows 0 to ${last.seq} can be reached, ${times}`;
    const reach = added.problem === undefined ? all : `${all}; ${added.problem}`;
    const beyond = moment && ("seq" in moment ? moment.seq > last.seq : moment.time > knownAt);
    if (beyond) throw new ServiceError("invalid_request", `cannot reach ${moment.text}: ${reach}`);
    (isDryRun ? print : printNote)(reach);
    if (isDryRun) return restored;
    const [found = last] = moment ? await resolveMoments(store, systemClock, [moment]) : [];
    const nameless = await endAt(path, config.environment, found.seq);
    const end = await store.history.readTip();
    const name = ledger === undefined ? file : `${file} with its later ledger`;
    const verification = await verifyAgainst(name, end, store);
    const at = new Date(end.at).toISOString();
    printNote(
      `the stock is that of row ${end.seq}; the rest is as the backup of ${manifest.at} has it`,
    );
    if (nameless > 0) printWarning(`${counted(nameless, "pet")} got the name 'Pet ID (name lost)'`);
    const rows = { ...manifest.rows, pets: verification.pets, ledger: verification.rows };
    return { ...restored, verification, manifest: { ...manifest, ...end, at, rows } };
  } finally {
    await store.close();
  }
}

/** The time up to which a later ledger is complete, if that is known, and what ended it before. */
type Added = Partial<Record<"at" | "problem", string | undefined>>;

async function addLater(source: string, path: string, config: Config): Promise<Added> {
  const add = (name: string, rowsOf: RowsOf) =>
    addLaterRows(path, config.environment, name, whileRoom(rowsOf, path));
  if (!/^(?:sqlite|postgres|postgresql):/.test(source)) {
    const { manifest, rowsOf } = await open(source, config);
    const problem = await add(source, rowsOf);
    return { problem, at: problem === undefined ? manifest.at : undefined };
  }
  const store = readConfig({ env: config.environment, ledger: source }, undefined, "ledger");
  const name = sqlitePath(store) ?? "the other database";
  return { problem: await readRows(store, (rowsOf) => add(name, asFarAsReadable(name, rowsOf))) };
}

/** A damaged store may have tables of which only some rows can be read. */
function asFarAsReadable(name: string, rowsOf: RowsOf): RowsOf {
  return async function* (table) {
    try {
      yield* rowsOf(table);
    } catch (error) {
      printWarning(`${name}: ${table} cannot be read to its end: ${(error as Error).message}`);
    }
  };
}
