/**
 * Step 9: when each task of maintenance, such as a backup, was last started, and how it ended.
 * Earlier code neither reads nor writes this table.
 */
export const maintenance = `
  CREATE TABLE maintenance (
    task         text PRIMARY KEY,
    started_at   int8 NOT NULL,
    succeeded_at int8,
    failed_at    int8,
    result       text,
    error        text
  ) WITH (fillfactor = 50);
`;
