import { type EntryRead, type History, isAcknowledged, type Row, type Write } from "./history.ts";

/**
 * Returns everything in a history that idempotency keys, expected versions and deltas rule out.
 * Every write has a unique reason, so the ledger shows which writes took effect.
 */
export function checkSafeWrites(history: History): string[] {
  const rowsOf = Map.groupBy(history.ledger, ({ reason }) => reason ?? "");
  return [
    ...checkChain(history),
    ...history.writes.flatMap((write) => [
      ...checkRows(write, rowsOf.get(write.id) ?? []),
      ...checkAnswers(write, rowsOf.get(write.id) ?? []),
    ]),
    ...checkUnasked(history),
    ...checkOrder(history, rowsOf),
    ...checkReads(history, rowsOf),
    ...checkSums(history, rowsOf),
  ];
}

/** Each row continues the one before it, and the pet's previous row. */
function checkChain({ initial, ledger }: History): string[] {
  const wrong: string[] = [];
  const stock = new Map<bigint, number>(initial);
  const versions = new Map<bigint, number>();
  for (const [at, { seq, petId, before, after, previous }] of ledger.entries()) {
    if (at > 0 && seq !== ledger[at - 1]!.seq + 1) wrong.push(`row ${seq} follows a gap`);
    if (before !== stock.get(petId)) wrong.push(`row ${seq} does not start from the stock`);
    const version = versions.get(petId);
    if (version !== undefined && previous !== version) {
      wrong.push(`row ${seq} does not refer to the pet's previous row`);
    }
    stock.set(petId, after);
    versions.set(petId, seq);
  }
  return wrong;
}

/** A write has its rows once or not at all, and once if it was acknowledged. */
function checkRows(write: Write, rows: readonly Row[]): string[] {
  const { id, changes, unanswered } = write;
  if (rows.length === 0) return isAcknowledged(write) ? [`${id} was acknowledged and is lost`] : [];
  const isOnce = rows.length === changes.length && rows.every(isNext) && hasOneRequest(rows);
  if (!isOnce) return [`${id} was not stored exactly once: rows ${rows.map(({ seq }) => seq)}`];
  const wrong: string[] = [];
  const isRejected = write.answers.some(({ status }) => status !== 200);
  if (isRejected && unanswered === 0) wrong.push(`${id} was rejected and is stored`);
  for (const [at, { petId, quantity, delta, expected }] of changes.entries()) {
    const row = rows[at]!;
    const wanted = quantity ?? row.before! + delta!;
    if (row.petId !== petId || row.after !== wanted) wrong.push(`${id} is stored differently`);
    if (expected !== undefined && row.previous !== expected) {
      wrong.push(`${id} was to replace version ${expected} and replaced ${row.previous}`);
    }
  }
  return wrong;
}

const isNext = ({ seq }: Row, at: number, rows: readonly Row[]) => seq === rows[0]!.seq + at;
const hasOneRequest = (rows: readonly Row[]) =>
  new Set(rows.map(({ requestId }) => requestId)).size === 1;

/** All answers 200 are the same and show the stored rows, and all but the first are replays. */
function checkAnswers({ id, method, answers }: Write, rows: readonly Row[]): string[] {
  const wrong: string[] = [];
  const given = answers.filter(({ status }) => status === 200);
  const firsts = given.filter(({ isReplayed }) => !isReplayed);
  if (firsts.length > 1) wrong.push(`${id} was executed ${firsts.length} times`);
  if (new Set(given.map(({ text, etag }) => `${text} ${etag}`)).size > 1) {
    wrong.push(`${id} got different answers: ${given.map(({ text, etag }) => `${text} ${etag}`)}`);
  }
  for (const { text, etag } of given.slice(0, 1)) {
    const shown = [...text.matchAll(/"petId":(-?\d+),"quantity":(\d+)/g)];
    const quantities = shown.map(([, petId, quantity]) => `${petId} ${quantity}`).join();
    if (quantities !== rows.map(({ petId, after }) => `${petId} ${after}`).join()) {
      wrong.push(`${id} was answered with ${text}`);
    }
    const versions = [...text.matchAll(/"version":(\d+)/g)].map(([, version]) => Number(version));
    const seqs = method === "PATCH" ? [versionIn(etag!)] : versions;
    if (seqs.join() !== rows.map(({ seq }) => seq).join()) {
      wrong.push(`${id} was answered with the versions ${seqs}`);
    }
  }
  return wrong;
}

/** The tag of an entry ends in its version. */
export function versionIn(etag: string): number {
  return Number(/-(\d+)"$/.exec(etag)![1]);
}

function checkUnasked({ writes, ledger }: History): string[] {
  const known = new Set(writes.map(({ id }) => id));
  return ledger
    .filter(({ reason }) => !known.has(reason ?? ""))
    .map(({ seq }) => `nobody asked for row ${seq}`);
}

type RowsOf = ReadonlyMap<string, readonly Row[]>;

/** A write that was acknowledged before another one began has the smaller numbers. */
function checkOrder({ writes }: History, rowsOf: RowsOf): string[] {
  const stored = writes.filter(({ id }) => rowsOf.has(id));
  const seqOf = ({ id }: Write) => rowsOf.get(id)![0]!.seq;
  const wrong: string[] = [];
  let earliest: Write | undefined;
  for (const write of stored.toSorted((one, next) => seqOf(next) - seqOf(one))) {
    if (earliest && earliest.end < write.start) {
      wrong.push(`${write.id} began after ${earliest.id} was acknowledged and is before it`);
    }
    if (isAcknowledged(write) && (!earliest || write.end < earliest.end)) earliest = write;
  }
  return wrong;
}

/** A read shows a stored version that was the last one at some time during the read. */
function checkReads({ reads, writes, ledger }: History, rowsOf: RowsOf): string[] {
  const rows = new Map(ledger.map((row) => [row.seq, row]));
  const writeOf = new Map(writes.map((write) => [write.id, write]));
  const acknowledged = Map.groupBy(
    writes.filter(isAcknowledged).flatMap((write) => {
      const stored = rowsOf.get(write.id) ?? [];
      return stored.map(({ petId, seq }) => ({ petId, seq, end: write.end }));
    }),
    ({ petId }) => petId,
  );
  return reads.flatMap((read) =>
    checkRead(read, rows, writeOf, acknowledged.get(read.petId) ?? []),
  );
}

function checkRead(
  { petId, quantity, version, start, end }: EntryRead,
  rows: ReadonlyMap<number, Row>,
  writeOf: ReadonlyMap<string, Write>,
  acknowledged: readonly { seq: number; end: number }[],
): string[] {
  const wrong: string[] = [];
  const row = rows.get(version);
  if (row && (row.petId !== petId || row.after !== quantity)) {
    wrong.push(`version ${version} of pet ${petId} was read with quantity ${quantity}`);
  }
  const writer = row && writeOf.get(row.reason ?? "");
  if (writer && writer.start > end) wrong.push(`version ${version} was read before it was written`);
  const newer = acknowledged.find((one) => one.seq > version && one.end < start);
  if (newer) wrong.push(`version ${version} was read after ${newer.seq} was acknowledged`);
  return wrong;
}

/** The stock of a pet that only deltas change moves by their sum. */
function checkSums({ initial, writes, ledger }: History, rowsOf: RowsOf): string[] {
  const wrong: string[] = [];
  for (const [petId, start] of initial) {
    const isSet = writes.some(({ changes }) =>
      changes.some((change) => change.petId === petId && change.quantity !== undefined),
    );
    if (isSet) continue;
    const stored = writes.filter((write) => isAcknowledged(write) || rowsOf.has(write.id));
    const deltas = stored.flatMap(({ changes }) => changes).filter((one) => one.petId === petId);
    const sum = deltas.reduce((total, { delta }) => total + delta!, start);
    const stock = ledger.findLast((row) => row.petId === petId)?.after ?? start;
    if (stock !== sum) wrong.push(`pet ${petId} has ${stock}, its deltas add up to ${sum}`);
  }
  return wrong;
}
