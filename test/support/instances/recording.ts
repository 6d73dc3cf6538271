import { SQL } from "bun";
import type { History, LedgerRow, Read, Update } from "../linearizability/history.ts";
import type { TestResponse } from "../service.ts";
import type { Fleet } from "./fleet.ts";

/** Sends requests to a fleet and records the results for the checker. */
export interface Recorder {
  readonly updates: readonly Update[];
  readonly reads: readonly Read[];
  /** Responses that no fault explains. */
  readonly surprises: readonly string[];
  /**
   * Sets a pet to a quantity that no other update sets, with an idempotency key if `isKeyed`. Returns what
   * is known of the outcome.
   */
  update(index: number, petId: bigint, isKeyed?: boolean): Promise<Update["outcome"]>;
  /** Reads the list with the last tag of this reader. Returns false if there was no list. */
  read(index: number, reader: Reader): Promise<boolean>;
  /** Acknowledged updates so far. */
  acknowledged(): number;
  /** The whole history, with the ledger as the database at this address has it now. */
  history(databaseUrl: string): Promise<History>;
}

/** What one client keeps of the list between two reads. */
export interface Reader {
  tag?: string;
  entries?: ReadonlyMap<bigint, number>;
}

export async function startRecorder(
  fleet: Fleet,
  key: string,
  databaseUrl: string,
): Promise<Recorder> {
  const updates: Update[] = [];
  const reads: Read[] = [];
  const surprises: string[] = [];
  const initial = new Map<bigint, number>();
  const [initialSeq] = await withDatabase(databaseUrl, async (sql) => {
    for (const [petId, quantity] of await sql`SELECT pet_id, quantity FROM inventory`.values()) {
      initial.set(petId, Number(quantity));
    }
    return (await sql`SELECT max(seq) FROM ledger_end`.values())[0] as [bigint];
  });
  let quantities = 0;
  let acknowledged = 0;

  return {
    updates,
    reads,
    surprises,
    acknowledged: () => acknowledged,
    async update(index, petId, isKeyed = false) {
      const quantity = ++quantities;
      const start = performance.now();
      const body = `{"quantity":${quantity}}`;
      const headers: Record<string, string> = isKeyed ? { "Idempotency-Key": `"${quantity}"` } : {};
      const response = await fleet
        .call(index, "PATCH", `/inventory/${petId}`, { key, body, headers })
        .catch(lost);
      const end = performance.now();
      const outcome = outcomeOf(response);
      updates.push({ id: `${quantity}`, petId, quantity, start, end, outcome });
      if (outcome === "acknowledged") acknowledged += 1;
      else if (response && response.status !== 503) surprises.push(`PATCH: ${response.text}`);
      return outcome;
    },
    async read(index, reader) {
      const start = performance.now();
      const headers: Record<string, string> = reader.tag ? { "If-None-Match": reader.tag } : {};
      const response = await fleet.call(index, "GET", "/inventory", { key, headers }).catch(lost);
      const end = performance.now();
      if (response?.status === 200) {
        reader.entries = entriesOf(response.text);
        reader.tag = response.headers.get("etag")!;
      } else if (response?.status !== 304) {
        if (response && response.status !== 503) surprises.push(`GET: ${response.text}`);
        return false;
      }
      reads.push({ start, end, entries: reader.entries!, seq: seqOf(reader.tag!) });
      return true;
    },
    async history(url) {
      const ledger = await readLedger(url, initialSeq);
      return { initial, initialSeq, updates, reads, ledger };
    },
  };
}

/** Of a 503 that does not say otherwise, nothing was stored and nothing will be. */
function outcomeOf(response: TestResponse | undefined): Update["outcome"] {
  if (!response) return "unanswered";
  if (response.status === 200) return "acknowledged";
  return response.text.includes("not known whether the update was stored") ? "unknown" : "refused";
}

/** A lost connection is a result too. A response against the contract is not. */
export function lost(error: unknown): undefined {
  const { code } = error as { code?: string };
  if (code === undefined) throw error;
}

/** Quantities identify the rows, because each was requested once. */
async function readLedger(databaseUrl: string, after: bigint): Promise<LedgerRow[]> {
  return withDatabase(databaseUrl, async (sql) => {
    const rows = await sql`SELECT seq, pet_id, quantity_before, quantity_after FROM ledger
      WHERE seq > ${after} ORDER BY seq`.values();
    return rows.map(([seq, petId, before, quantity]: [bigint, bigint, bigint | null, bigint]) => ({
      ...{ seq, petId, id: `${quantity}`, quantityAfter: Number(quantity) },
      quantityBefore: before === null ? null : Number(before),
    }));
  });
}

/** Runs statements on a database, on a separate connection. */
export async function withDatabase<T>(
  databaseUrl: string,
  work: (sql: SQL) => Promise<T>,
): Promise<T> {
  await using sql = new SQL(databaseUrl, { max: 1, bigint: true });
  return await work(sql);
}

/** By pattern, because 64-bit ids do not survive JSON.parse. */
export function entriesOf(text: string): Map<bigint, number> {
  const items = text.matchAll(/"petId":(-?\d+),"quantity":(\d+)/g);
  return new Map(Array.from(items, ([, petId, quantity]) => [BigInt(petId!), Number(quantity)]));
}

/** The tag ends in the ledger's seq, and then perhaps in a coding. */
export function seqOf(tag: string): bigint {
  return BigInt(/-(\d+)(?:-[a-z]+)?"$/.exec(tag)![1]!);
}
