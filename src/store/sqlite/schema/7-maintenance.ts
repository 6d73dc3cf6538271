/** When each task of maintenance, such as a backup, was last started, and how it ended. */
export const maintenance = `
  CREATE TABLE maintenance (
    task         TEXT    PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    succeeded_at INTEGER,
    failed_at    INTEGER,
    result       TEXT,
    error        TEXT
  ) STRICT;
  `;
