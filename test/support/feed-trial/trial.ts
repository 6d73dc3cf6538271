import { boundless, type Fleet } from "../instances/fleet.ts";
import { until } from "../until.ts";
import { readLedger, seqOfRow, startChanges } from "./changes.ts";
import { type Consumer, type ConsumerOptions, startConsumer } from "./consumer.ts";

export interface FeedFigures {
  readonly rows: number;
  readonly consumers: number;
  readonly connections: number;
  /** Changes that consumers counted, and those that came again after a reconnection. */
  readonly received: number;
  readonly repeats: number;
  /** What a correct service does not do. */
  readonly wrong: readonly string[];
}

/** Flags of the instances: one key opens all streams. */
export const feedTrialFlags = ["--streams-per-key", "10000"];

const pets = [1n, 2n, 3n, -9223372036854775808n, 9223372036854775807n];
export const feedTrialPets = pets;

const patienceMs = 30_000;

/**
 * Consumers of the feed, while clients change the inventory. A quarter of the consumers each: start
 * at the next change; store their cursor only sometimes; read the changes of one key; start with
 * the first row.
 */
export async function startFeedTrial(
  fleet: Fleet,
  consumersCount: number,
  { savesEvery = 25 }: Pick<ConsumerOptions, "savesEvery"> = {},
) {
  const [reader, first, second] = await Promise.all(
    Array.from({ length: 3 }, () => fleet.issueKey(...boundless)),
  );
  const texts = new Map<string, string>();
  const { key } = reader!;
  const pickInstance = () => fleet.instance(Math.floor(Math.random() * fleet.size)).baseUrl;
  const isOver = () => fleet.isOver;
  const consumers = Array.from({ length: consumersCount }, (_, number) => {
    // Each stores its cursor after another number of changes, so that not all have just done it.
    const sometimes = { savesEvery: savesEvery + Math.floor(((savesEvery - 1) * number) / 100) };
    const ofOneKey = { query: { key: second!.id } };
    const kinds: Pick<ConsumerOptions, "savesEvery" | "query">[] = [
      {},
      sometimes,
      ofOneKey,
      { query: { after: "0" } },
    ];
    const kind = kinds[number % kinds.length]!;
    return { kind, ...wrap(startConsumer({ key, pickInstance, isOver, texts, ...kind })) };
  });
  const isConnected = ({ consumer }: { consumer: Consumer }) => consumer.startSeq >= 0;
  await until(() => consumers.every(isConnected), patienceMs, "every consumer connects");
  const changes = startChanges(fleet, [first!.key, second!.key], pets);

  /** Adds a row that every consumer receives. Returns its number, if nobody else changes anything. */
  async function changeForAll(): Promise<number> {
    const request = { key: second!.key, body: `{"quantity":${Date.now() % 1_000_000}}` };
    const change = () => fleet.call(0, "PATCH", "/inventory/1", request).catch(() => undefined);
    await until(async () => (await change())?.status === 200, patienceMs, "a change");
    const { json } = await fleet.call(0, "GET", "/changes/head", { key });
    return (json as { seq: number }).seq;
  }

  /** Resolves when every consumer has this row. */
  const arrived = (seq: number) =>
    until(
      () => consumers.every(({ consumer }) => consumer.seqs.at(-1) === seq),
      patienceMs,
      `row ${seq} arrives at every consumer`,
    );

  return {
    key,
    consumers: consumers.map(({ consumer }) => consumer),
    changes,
    changeForAll,
    arrived,
    /** Ends the changes, waits for the last one and ends the consumers. */
    async end(): Promise<void> {
      await changes.end();
      await arrived(await changeForAll()).finally(() =>
        Promise.all(consumers.map(({ consumer }) => consumer.leave())),
      );
    },
    /** Checks that every consumer has received every row of the ledger once, in order. */
    async compareWithLedger(): Promise<FeedFigures> {
      const wrong = [...changes.surprises];
      const rows = await readLedger(fleet, key);
      // One cursor per row, whichever instance sent it, and the content of the ledger.
      const sent = [...texts.values()].sort(bySeq);
      if (sent.join() !== rows.join()) wrong.push("the feed sent other rows than the pages have");
      const all = rows.map(seqOfRow);
      const ofSecond = rows.filter((row) => row.includes(`"${second!.id}"`)).map(seqOfRow);
      for (const [number, { kind, consumer }] of consumers.entries()) {
        const { faults, resets, seqs, repeats, startSeq } = consumer;
        wrong.push(...faults.map((fault) => `consumer ${number}: ${fault}`));
        if (resets.length > 0) wrong.push(`consumer ${number} was reset at ${resets[0]!.seq}`);
        const wanted = (kind.query?.key ? ofSecond : all).filter((seq) => seq > startSeq);
        const differsAt = wanted.findIndex((seq, at) => seqs[at] !== seq);
        if (differsAt >= 0 || seqs.length !== wanted.length)
          wrong.push(
            `consumer ${number} got row ${seqs[differsAt]} instead of ${wanted[differsAt]}`,
          );
        if (!kind.savesEvery && repeats > 0)
          wrong.push(`consumer ${number} got ${repeats} changes again`);
      }
      return { ...figures(), wrong };
    },
    figures,
  };

  function figures(): Omit<FeedFigures, "wrong"> {
    const sum = (value: (consumer: Consumer) => number) =>
      consumers.reduce((total, { consumer }) => total + value(consumer), 0);
    return {
      rows: texts.size,
      consumers: consumers.length,
      connections: sum(({ connections }) => connections),
      received: sum(({ seqs }) => seqs.length),
      repeats: sum(({ repeats }) => repeats),
    };
  }
}

const wrap = (consumer: Consumer) => ({ consumer });

const bySeq = (one: string, other: string) => seqOfRow(one) - seqOfRow(other);
