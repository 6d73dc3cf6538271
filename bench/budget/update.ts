// Measures the parts of an update, in groups as they form under load.
import { createCommitter } from "../../src/domain/commits/commits.ts";
import { applyUnits, type LedgerState } from "../../src/domain/ledger/append.ts";
import { genesisHash, hashRow } from "../../src/domain/ledger/chain.ts";
import type { LedgerRow, Unit } from "../../src/domain/ledger/ledger.ts";
import { monotonicMs } from "../../src/domain/running/background.ts";
import { nextRequestId } from "../../src/http/messages/requests.ts";
import type { Context } from "../../src/http/pipeline/context.ts";
import type { Call } from "../../src/http/pipeline/operation.ts";
import {
  decodeCommit,
  decodeCommitted,
  encodeCommit,
  encodeCommitted,
  sharedMs,
} from "../../src/store/sqlite/writing/messages.ts";
import { openWriter } from "../../src/store/sqlite/writing/writer.ts";
import { costOf } from "./cost.ts";
import { type Costs, costsOfPipeline, type OpenService } from "./service.ts";

const entries = 1000;
const groupSize = 32;
const groupsPerRound = 128;

type Group = readonly Unit[];

/** Per update, for work that takes a group. */
async function costInGroup<Input>(
  prepare: (at: number) => Input,
  work: (input: Input) => unknown,
  groups = groupsPerRound,
  measuredMs?: number,
): Promise<number> {
  return (await costOf(prepare, work, groups, measuredMs)) / groupSize;
}

/** The same groups in every round. Successive changes of a pet have different amounts. */
export function makeGroups(keyId: string): readonly Group[] {
  return Array.from({ length: groupsPerRound }, (_, group) =>
    Array.from({ length: groupSize }, (__, index): Unit => {
      const at = group * groupSize + index;
      const petId = BigInt(1 + (at % entries));
      const change = { petId, kind: "set", amount: 1000 + at, reason: null } as const;
      return { changes: [change], cause: "api", keyId, requestId: nextRequestId() };
    }),
  );
}

/** Everything except the writing connection, which the open service has. */
export async function costsOfUpdate(service: OpenService): Promise<Costs> {
  const { context, callAt, head } = service;
  const groups = makeGroups(callAt(0).caller.keyId);
  const groupAt = (at: number) => groups[at]!;
  const { epoch, seq, keysVersion } = await head.readHead();
  const all = await context.store.inventory.entriesAfter(null, entries);
  const state: LedgerState = {
    ...{ epoch, tip: { seq, at: 0 }, remembered: new Map(), epochOf: () => epoch },
    entries: new Map(all.map((entry) => [entry.petId, entry])),
  };
  const apply = (group: Group) => applyUnits(state, group, Date.now());
  const applied = groups.map(apply);
  const hashAll = (rows: readonly LedgerRow[]) => {
    let hash = genesisHash;
    for (const row of rows) hash = hashRow(hash, row);
  };
  const sent = { id: 1, sentMs: sharedMs(), now: Date.now(), withinMs: 8_000 };
  const end = { epoch, seq: seq + groupSize, keysVersion };
  const textOf = (units: Group) => encodeCommit({ ...sent, units });
  const answerOf = (at: number) => encodeCommitted(1, { ...applied[at]!, head: end });
  return {
    ...(await costsOfOperation(service, applied[0]!)),
    rules: await costInGroup(groupAt, apply),
    hash: await costInGroup((at) => applied[at]!.rows, hashAll),
    "message to the writer": await costInGroup(groupAt, (units) => decodeCommit(textOf(units))),
    "message back": await costInGroup(Number, (at) => decodeCommitted(answerOf(at), groups[at]!)),
    threads: await costOfThreads(groups.map(textOf), answerOf(0)),
    list: await costOfList(service, epoch),
  };
}

type Applied = ReturnType<typeof applyUnits>;

/** The operation with a committer that answers at once, then with the real one on such a store. */
async function costsOfOperation(service: OpenService, applied: Applied): Promise<Costs> {
  const { config } = service.options;
  const outcome = applied.outcomes[0]!;
  const bounds = {
    groupMax: config.writesPerGroupMax,
    queueMax: config.writesWaitingMax,
    timeoutMs: config.updateTimeoutMs,
    grouping: service.engine.grouping,
  };
  const store = { commit: async () => applied, mayOverlap: () => true };
  const answering = { ...service.context.committer, submit: async () => outcome };
  const queueing = createCommitter(store, bounds, monotonicMs, () => {});
  const callsAt = (at: number) =>
    Array.from({ length: groupSize }, (_, index) => service.callAt(at * groupSize + index));
  const handleAll = (committer: Context["committer"]) => {
    const context = { ...service.context, committer };
    return (calls: Call[]) =>
      Promise.all(calls.map((call) => call.operation.handle(context, call)));
  };
  const [reply] = await handleAll(answering)([service.callAt(0)]);
  const costs = await costsOfPipeline(service, reply!);
  const [parsing, both] = [handleAll(answering), handleAll(queueing)];
  const measured = { parsing: Number.POSITIVE_INFINITY, both: Number.POSITIVE_INFINITY };
  // In turn, because both run the same code, which becomes faster. In short rounds, because
  // collecting thousands of requests would cost more than handling them.
  for (let turn = 0; turn < 3; turn++) {
    measured.both = Math.min(measured.both, await costInGroup(callsAt, both, 8));
    measured.parsing = Math.min(measured.parsing, await costInGroup(callsAt, parsing, 8));
  }
  return { ...costs, parsing: measured.parsing, queue: measured.both - measured.parsing };
}

/** Passes the texts of a group to a thread and back. Both threads count. */
async function costOfThreads(texts: readonly string[], answer: string): Promise<number> {
  const worker = new Worker(new URL("./echo.ts", import.meta.url));
  const send = (text: string) =>
    new Promise<void>((resolve) => {
      worker.onmessage = () => resolve();
      worker.postMessage(text);
    });
  await send(answer);
  const cost = await costInGroup((at) => texts[at]!, send);
  worker.terminate();
  return cost;
}

/** Announces rows to those who follow the ledger. Last, because the store does not have these rows. */
async function costOfList({ context, head }: OpenService, epoch: string): Promise<number> {
  let { seq } = context.follower.applied;
  const rowsAt = () =>
    Array.from({ length: groupSize }, () => {
      seq += 1;
      const petId = BigInt(1 + (seq % entries));
      return { seq, petId, after: { petId, quantity: seq, status: "sold" as const } };
    });
  const cost = await costInGroup(rowsAt, (rows) => head.committed(rows, epoch));
  if (context.follower.applied.seq !== seq) throw new Error("The list has not applied all rows.");
  return cost;
}

/** The writing connection, on this thread. Storage is the rest of a commit. */
export async function costsOfWriter(
  path: string,
  groups: readonly Group[],
  { rules, hash }: Costs,
): Promise<Costs> {
  const writer = openWriter({ path, environment: "production" });
  writer.methods.beginEpoch(crypto.randomUUID());
  const commit = (group: Group) => writer.commit(group, Date.now(), 8_000);
  const { outcomes } = commit(groups[0]!);
  if (outcomes.some(({ kind }) => kind !== "stored")) throw new Error("A unit was not stored.");
  const whole = await costInGroup((at) => groups[at]!, commit, groupsPerRound, 2_000);
  const checks = await costInGroup(Number, writer.methods.inspect);
  writer.methods.close();
  return { storage: whole - rules! - hash! - checks, "file checks": checks };
}
