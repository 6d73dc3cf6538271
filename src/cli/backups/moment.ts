import { type Config, readConfig } from "../../config.ts";
import type { Moment } from "../../domain/ledger/moments.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf } from "../../domain/verification/store.ts";
import { systemClock } from "../../opening/engines.ts";
import { namingFile, sqlitePath } from "../../opening/store-file.ts";
import { openExistingStore, openToFill } from "../../opening/stores.ts";
import { print, printNote, printWarning } from "../../output.ts";
import { openForReading } from "../../store/sqlite/engine/connection.ts";
import { addLaterRows, readAsOf } from "../../store/sqlite/moment.ts";
import { rowsFrom } from "../../store/sqlite/transfer.ts";
import { counted } from "../paragraphs.ts";
import { open, type Restored, restoreAndVerify, verifyAgainst } from "./restored-store.ts";
import { whileRoom } from "./room.ts";

/** Flags of `restore`. */
interface Flags extends Readonly<Record<"dry-run" | "json", boolean>> {
  /** A later ledger: a backup file, or the address of a store. */
  readonly ledger?: string | undefined;
}

/**
 * Restores a backup to a new SQLite file. With a moment, a later ledger or for a dry run: restores it to a
 * file beside that, adds the rows of the later ledger, and says which moments can be reached. Then copies
 * the store as of the moment, by default the last one, and verifies the copy. A dry run stops before that.
 */
export async function restoreMoment(
  file: string,
  path: string,
  config: Config,
  moment: Moment | undefined,
  { ledger, json: isJson, "dry-run": isDryRun }: Flags,
): Promise<Restored> {
  if (!moment && ledger === undefined && !isDryRun) return restoreAndVerify(file, path, config);
  const whole = `${path}-whole`;
  const restored = await restoreAndVerify(file, whole, config);
  const { manifest } = restored;
  const added: Added = ledger === undefined ? manifest : await addLater(ledger, whole, config);
  await using opened = new AsyncDisposableStack();
  const openAt = async (at: string) => {
    const store = await openToFill({ ...config, databaseUrl: `sqlite:${at}` }, systemClock);
    opened.defer(() => store.close());
    return store;
  };
  const store = await openAt(whole);
  const { seq: toSeq, at: lastAt } = await store.history.readTip();
  const [first = { at: lastAt }] = await store.inventory.ledgerAfter(0, 1);
  const knownAt = Math.max(lastAt, Date.parse(added.at ?? manifest.at));
  const [from, to] = [first.at, knownAt].map((time) => new Date(time).toISOString());
  const rows = `rows 1 to ${toSeq} can be reached, ${from} to ${to}`;
  const reach = [toSeq ? rows : "the ledger has no rows", added.problem ?? []].flat().join("; ");
  const time = moment && "time" in moment ? moment.time : knownAt;
  const seq = moment && "seq" in moment ? moment.seq : await store.history.seqAt(time);
  if (moment && (time > knownAt || seq < 1 || seq > toSeq))
    throw new ServiceError("invalid_request", `cannot reach ${moment.text}: ${reach}`);
  const json = JSON.stringify({ file, fromSeq: 1, toSeq, from, to, problem: added.problem });
  (isDryRun ? print : printNote)(isDryRun && isJson ? json : reach);
  if (isDryRun) return restored;
  const [row, next] = await store.inventory.ledgerAfter(seq - 1, 2);
  const target = await openAt(path);
  const nameless = await readAsOf(whole, config.environment, seq, (rowsOf) =>
    target.transfer.importTables(whileRoom(rowsOf, path)),
  );
  const end = await target.history.readTip();
  const name = ledger === undefined ? file : `${file} with its later ledger`;
  const verification = await verifyAgainst(name, end, target);
  const at = new Date(end.at).toISOString();
  printNote(`stock of row ${end.seq}; the rest is as the backup of ${manifest.at} has it`);
  // The rows of a batch have one time. Those of an import have no request.
  if (next && next.at === row!.at && next.requestId === row!.requestId)
    printWarning(`row ${seq} is in the middle of a batch, which is restored in part`);
  if (nameless > 0) printWarning(`${counted(nameless, "pet")} got the name 'Pet ID (name lost)'`);
  const counts = { ...manifest.rows, pets: verification.pets, ledger: verification.rows };
  return { ...restored, verification, manifest: { ...manifest, ...end, at, rows: counts } };
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
  const from = readConfig({ env: config.environment, ledger: source }, undefined, "ledger");
  const file = sqlitePath(from);
  if (file === undefined) {
    const store = await openExistingStore(from, systemClock, "reads");
    const added = store.transfer.snapshot(({ rowsOf }) => add("the other database", rowsOf));
    return { problem: await added.finally(() => store.close()) };
  }
  // Not as a store: nothing in a damaged file is repaired or otherwise changed.
  using database = await namingFile(file, async () => openForReading(file));
  database.run("BEGIN");
  return { problem: await add(file, asFarAsReadable(file, rowsFrom(database))) };
}

/** A damaged file may have tables of which only some rows can be read. */
function asFarAsReadable(name: string, rowsOf: RowsOf): RowsOf {
  return async function* (table, fromSeq) {
    try {
      yield* rowsOf(table, fromSeq);
    } catch (error) {
      printWarning(`${name}: ${table} cannot be read to its end: ${(error as Error).message}`);
    }
  };
}
