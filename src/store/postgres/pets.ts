import type { AddedRow } from "../../domain/catalogue/pets.ts";
import type { CatalogueStore } from "../../domain/catalogue/store.ts";
import { appendRow, type RowContent } from "../../domain/ledger/append.ts";
import { auditValues } from "../audit-rows.ts";
import { detailColumns, detailTypes, detailValues, petTableColumns } from "../pet-rows.ts";
import { entryColumns, toEntry } from "../rows.ts";
import { addingEntry } from "./audit.ts";
import { moveTip, takeHead } from "./engine/head-lock.ts";
import { insertRows, rowArrays } from "./engine/ledger-rows.ts";
import type { Query, Session } from "./engine/session.ts";
import { begin, commitTransaction, limitWait, waitForDisk } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";
import { lockCatalogue } from "./imports.ts";

/** The details of a pet as parameters, from this one on. */
const detailsFrom = (first: number) => detailTypes.map((type, at) => `$${first + at}::${type}`);

const addPet = `INSERT INTO pets (${petTableColumns})
  VALUES ($1::int8, ${detailsFrom(2).join(", ")})`;
const addRow = insertRows(1);
const addEntry = `INSERT INTO inventory (${entryColumns}) VALUES ($1::int8, $2::int8, $3, $4::int8)`;
const findEntry = `SELECT ${entryColumns} FROM inventory WHERE pet_id = $1::int8
  ORDER BY generation DESC LIMIT 1`;
const noteRemoval = `INSERT INTO removed_pets (pet_id, version) VALUES ($1::int8, $2::int8)
  ON CONFLICT (pet_id) DO UPDATE SET version = excluded.version`;

const changeText = `
  WITH changed AS (
    UPDATE pets SET (${detailColumns}) = ROW (${detailsFrom(2)})
    WHERE pet_id = $1::int8
      AND (${detailColumns}) IS NOT DISTINCT FROM (${detailsFrom(detailTypes.length + 2)})
    RETURNING pet_id),
  ${addingEntry(2 * detailTypes.length + 2, "changed")}
  SELECT ${waitForDisk} FROM changed`;

/** What the methods use: `run` and `patient` open sessions of their own, because they wait for imports. */
export interface PetParts {
  readonly epochs: Epochs;
  readonly patient: Query;
  now(): number | null;
  run<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** Creates, removes and changes single pets. Each call is one transaction. */
export function createPets({
  epochs,
  patient,
  now,
  run,
}: PetParts): Pick<CatalogueStore, "createPet" | "removePet" | "changePet"> {
  /**
   * Runs `work` with the catalogue and the head locked, in the order in which an import locks them.
   * `work` adds a row, or returns without a change.
   */
  const transact = <T>(work: (session: Session, add: AddRow) => Promise<T>): Promise<T> =>
    run(async (session) => {
      await session.query(begin);
      await session.query(limitWait);
      await session.query(lockCatalogue);
      const { timeline, storeEpoch, ...tip } = await takeHead(session, now());
      const epoch = epochs.nameOf(storeEpoch, timeline);
      const result = await work(session, async (content) => {
        const { row, tip: end } = appendRow(tip, content, tip.at);
        await epochs.record(session.query, timeline, tip.seq);
        await session.query(addRow, rowArrays([row], [end.hash]));
        await session.query(moveTip, [tip.seq, end.seq, end.at, end.hash]);
        return { row, epoch };
      });
      await commitTransaction(session.sql);
      session.confirm(timeline);
      return result;
    });

  return {
    createPet: (pet, origin) =>
      transact(async (session, add) => {
        const { petId, quantity, status } = pet;
        const [existing] = await session.query("SELECT FROM pets WHERE pet_id = $1::int8", [petId]);
        if (existing) return { kind: "exists" };
        await session.query(addPet, [petId, ...detailValues(pet)]);
        const text = "SELECT version FROM removed_pets WHERE pet_id = $1::int8";
        const [removal] = await session.query(text, [petId]);
        const previous = removal ? Number(removal[0]) : null;
        const after = { quantity, status };
        const added = await add({ petId, before: null, after, previous, ...origin });
        await session.query(addEntry, [petId, quantity, status, added.row.seq]);
        return { kind: "created", ...added };
      }),
    removePet: (petId, expectedVersion, origin) =>
      transact(async (session, add) => {
        const [found] = await session.query(findEntry, [petId]);
        if (!found) return { kind: "not_found" };
        const current = toEntry(found);
        const { quantity, status, version } = current;
        if (expectedVersion !== undefined && version !== expectedVersion) {
          return { kind: "mismatch", current };
        }
        const before = { quantity, status };
        const added = await add({ petId, before, after: null, previous: version, ...origin });
        await session.query("DELETE FROM inventory WHERE pet_id = $1::int8", [petId]);
        await session.query("DELETE FROM pets WHERE pet_id = $1::int8", [petId]);
        await session.query(noteRemoval, [petId, added.row.seq]);
        return { kind: "removed", ...added };
      }),
    async changePet(petId, before, after, entry) {
      const details = [...detailValues(after), ...detailValues(before)];
      return (await patient(changeText, [petId, ...details, ...auditValues(entry)])).length > 0;
    },
  };
}

type AddRow = (content: RowContent) => Promise<AddedRow>;
