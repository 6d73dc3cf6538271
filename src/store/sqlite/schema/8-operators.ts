/** The audit log, sessions, the usage of each key over time, and where removed pets end. */
export const operators = `
  CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    key_id     TEXT,
    request_id TEXT,
    action     TEXT    NOT NULL,
    target     TEXT,
    details    TEXT    NOT NULL
  ) STRICT;

  CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;

  CREATE TRIGGER audit_rows_remain BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;

  CREATE TABLE sessions (
    digest        TEXT    PRIMARY KEY,
    secret_digest TEXT    NOT NULL REFERENCES secrets,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
  ) STRICT;

  -- One row for an hour or a month of a key, with the counts of its minutes or days.
  CREATE TABLE usage_history (
    key_id TEXT    NOT NULL,
    span   TEXT    NOT NULL CHECK (span IN ('hour', 'month')),
    start  INTEGER NOT NULL,
    counts BLOB    NOT NULL,
    PRIMARY KEY (key_id, span, start)
  ) STRICT, WITHOUT ROWID;

  -- The ledger row that last removed a pet. The rows before it are found from there.
  CREATE TABLE removed_pets (
    pet_id  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
  ) STRICT;
  `;
