import type { Database } from "bun:sqlite";
import { genesisHash, hashRow } from "../../../domain/ledger/chain.ts";
import { toLedgerRow } from "../../rows.ts";

/**
 * Step 3: the hash chain. Rows of earlier versions have no hash, because rows are never changed. The
 * table `chain` has the hash of the last of them, so the hash of the next row covers them too.
 */
export function chain(database: Database): void {
  database.run(`
    ALTER TABLE ledger ADD COLUMN hash BLOB CHECK (length(hash) = 32);
    ALTER TABLE head ADD COLUMN hash TEXT NOT NULL DEFAULT '${genesisHash}';
    CREATE TABLE chain (
      id       INTEGER PRIMARY KEY CHECK (id = 1),
      from_seq INTEGER NOT NULL CHECK (from_seq >= 0),
      hash     TEXT    NOT NULL
    ) STRICT;

    -- Refuses the commit of an earlier version, whose rows have no hash: a command may have been
    -- started before the migration. Once per commit, because a trigger on each row of the ledger
    -- would hold an import up.
    CREATE TRIGGER head_has_hash BEFORE UPDATE OF seq ON head
    WHEN NEW.seq > OLD.seq AND NEW.hash = OLD.hash
    BEGIN SELECT RAISE(ABORT, 'this store needs petstore 0.4 or later'); END;
    `);
  let hash = genesisHash;
  let lastSeq = 0n;
  for (const row of database.query(ledgerRows).iterate()) {
    const values = Object.values(row as object);
    hash = hashRow(hash, toLedgerRow(values));
    lastSeq = values[0];
  }
  database.query("INSERT INTO chain (id, from_seq, hash) VALUES (1, ?, ?)").run(lastSeq, hash);
  database.query("UPDATE head SET hash = ?").run(hash);
}

/** The columns that this step knows, in the order of `toLedgerRow`. */
const ledgerRows = `SELECT seq, pet_id, quantity_before, quantity_after, status_before,
  status_after, previous, cause, key_id, request_id, reason, at FROM ledger ORDER BY seq`;
