// The figures of the project: for each the value that must hold, and the aim.

export interface Figure {
  what: string;
  unit: "×" | "MB" | "s" | "ms";
  better: "lower" | "higher";
  hold: number;
  aim: number;
}

const ratio = (what: string, better: Figure["better"], hold: number, aim: number): Figure => ({
  what,
  unit: "×",
  better,
  hold,
  aim,
});

const patchPeer = (entries: string): Figure =>
  ratio(`PATCH, ${entries}, this disk: throughput against the peer`, "higher", 4, 10);

const postgresPatch = (what: string, hold: number, aim: number): Figure =>
  ratio(`PATCH, PostgreSQL, ${what}`, "higher", hold, aim);

const snapshot = (engine: string): Figure => ({
  what: `slowest snapshot or diff, 1,000,000 entries, 10,000,000 ledger rows, ${engine}`,
  unit: "s",
  better: "lower",
  hold: 2,
  aim: 1,
});

const feedPatch = (connections: number, engine: string): Figure =>
  ratio(
    `PATCH, ${connections} connections, ${engine}: throughput with 200 listeners against none`,
    "higher",
    0.8,
    0.9,
  );

const feedDelay = (engine: string): Figure => ({
  what: `p99 of the delay of events, 2,000 listeners, 1,000 changes a second, ${engine}`,
  unit: "s",
  better: "lower",
  hold: 1,
  aim: 0.3,
});

export const figures = {
  getFloor20: ratio("GET, 20 entries: server CPU against the floor", "lower", 1.5, 1.25),
  getFloor1000: ratio("GET, 1,000 entries: server CPU against the floor", "lower", 1.35, 1.1),
  getFloor10000: ratio("GET, 10,000 entries: server CPU against the floor", "lower", 1.2, 1.05),
  getFloor100000: ratio("GET, 100,000 entries: server CPU against the floor", "lower", 1.2, 1.05),
  getPeer20: ratio("GET, 20 entries: throughput against the peer", "higher", 3.5, 5),
  getPeer10000: ratio("GET, 10,000 entries: throughput against the peer", "higher", 20, 50),
  patchPeer20: patchPeer("20 entries"),
  patchPeer1000: patchPeer("1,000 entries"),
  patchPeer10000: patchPeer("10,000 entries"),
  patchPeerSlow: ratio("PATCH, flush + 2 ms: throughput against the peer", "higher", 20, 50),
  readsUnderWrites: {
    what: "GET p99 while writes saturate, flush + 10 ms",
    unit: "ms",
    better: "lower",
    hold: 10,
    aim: 5,
  },
  firstGet: ratio(
    "first GET after a PATCH, 100,000 entries: server CPU against unchanged bytes",
    "lower",
    1.5,
    1.2,
  ),
  patchGrowth: ratio("PATCH: server CPU at 1,000,000 entries against 1,000", "lower", 2, 1.3),
  memory: {
    what: "memory with 1,000,000 entries, after reads and writes",
    unit: "MB",
    better: "lower",
    hold: 600,
    aim: 300,
  },
  start: {
    what: "start to ready with 1,000,000 entries",
    unit: "s",
    better: "lower",
    hold: 3,
    aim: 1,
  },
  turn: {
    what: "longest turn of the event loop, 1,000,000 entries: start, reads, import of all, updates",
    unit: "ms",
    better: "lower",
    hold: 50,
    aim: 20,
  },
  importMemory: {
    what: "peak memory during an import that changes 1,000,000 entries",
    unit: "MB",
    better: "lower",
    hold: 600,
    aim: 300,
  },
  postgresPgbench16: postgresPatch("16 connections: throughput against pgbench -c 16", 0.5, 0.8),
  postgresPgbench64: postgresPatch("64 connections: throughput against pgbench -c 64", 1, 1.3),
  postgresPeer64: postgresPatch("64 connections: throughput against the peer", 2.5, 3),
  postgresInstances64: postgresPatch(
    "64 connections: throughput of two instances against one",
    0.9,
    1,
  ),
  postgresEntries: postgresPatch(
    "64 connections: throughput with 1,000,000 entries against 1,000",
    0.8,
    0.95,
  ),
  postgresLedger: postgresPatch(
    "64 connections: throughput with a long ledger against a new one",
    0.8,
    0.95,
  ),
  ledgerGrowth: ratio("PATCH: server CPU with a long ledger against a new one", "lower", 2, 1.3),
  keysRemembered: ratio(
    "PATCH without a key: server CPU with 10,000,000 remembered keys against none",
    "lower",
    1.15,
    1.05,
  ),
  keysSent: ratio(
    "PATCH with a key: server CPU with 10,000,000 remembered keys against no key and none",
    "lower",
    1.15,
    1.1,
  ),
  keysRememberedPostgres: ratio(
    "PATCH without a key, PostgreSQL: server CPU with 10,000,000 remembered keys against none",
    "lower",
    1.15,
    1.05,
  ),
  keysSentPostgres: ratio(
    "PATCH with a key, PostgreSQL: server CPU with 10,000,000 remembered keys against no key and none",
    "lower",
    1.15,
    1.1,
  ),
  batchFloor: ratio("batches of 1,000: changes per second against plain SQL", "higher", 0.15, 0.4),
  batchPeer: ratio("batches of 1,000: changes per second against the peer", "higher", 0.3, 0.6),
  batchFloorPostgres: ratio(
    "batches of 1,000, PostgreSQL: changes per second against plain SQL",
    "higher",
    0.2,
    0.5,
  ),
  batchPeerPostgres: ratio(
    "batches of 1,000, PostgreSQL: changes per second against the peer",
    "higher",
    0.8,
    1.2,
  ),
  feedPatch64: feedPatch(64, "SQLite"),
  feedPatch256: feedPatch(256, "SQLite"),
  feedPatch64Postgres: feedPatch(64, "PostgreSQL"),
  feedPatch256Postgres: feedPatch(256, "PostgreSQL"),
  feedDelay: feedDelay("SQLite"),
  feedDelayPostgres: feedDelay("PostgreSQL"),
  feedTurn: {
    what: "longest turn of the event loop, 2,000 listeners",
    unit: "ms",
    better: "lower",
    hold: 50,
    aim: 20,
  },
  historyFloor: ratio(
    "history, first page of 100: latency against plain SQL with an index",
    "lower",
    10,
    4,
  ),
  historyFloorPostgres: ratio(
    "history, first page of 100, PostgreSQL: latency against plain SQL with an index",
    "lower",
    10,
    4,
  ),
  snapshotSqlite: snapshot("SQLite"),
  snapshotPostgres: snapshot("PostgreSQL"),
} satisfies Record<string, Figure>;

export type FigureName = keyof typeof figures;

export function meets(figure: Figure, value: number, bar: number): boolean {
  return figure.better === "lower" ? value <= bar : value >= bar;
}
