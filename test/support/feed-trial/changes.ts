import type { Fleet } from "../instances/fleet.ts";
import { lost } from "../instances/recording.ts";
import type { TestResponse } from "../service.ts";
import { until } from "../until.ts";

/** Clients that change the inventory until `end`. */
export interface Changes {
  /** Responses that no fault explains. */
  readonly surprises: readonly string[];
  /** Resolves once this many more requests were acknowledged. */
  more(count: number): Promise<unknown>;
  end(): Promise<void>;
}

const pauseMs = 100;
const patienceMs = 30_000;
/** More than the feed reads at once, so that a request does not end where a page of rows ends. */
const batchSize = 150;
/** One request in this many is a batch. */
const batchEvery = 20;

/** Every key has one client, which sends to any instance. */
export function startChanges(
  fleet: Fleet,
  keys: readonly string[],
  pets: readonly bigint[],
): Changes {
  const surprises: string[] = [];
  let sent = 0;
  let acknowledged = 0;
  let isEnded = false;

  function send(key: string, number: number) {
    const index = Math.floor(Math.random() * fleet.size);
    const petId = pets[number % pets.length]!;
    if (number % batchEvery !== 0) {
      const body = `{"quantity":${number}}`;
      return fleet.call(index, "PATCH", `/inventory/${petId}`, { key, body });
    }
    const change = `{"petId":${petId},"delta":1}`;
    const body = `{"changes":[${Array(batchSize).fill(change).join()}]}`;
    return fleet.call(index, "POST", "/changes", { key, body });
  }

  async function run(key: string): Promise<void> {
    while (!isEnded && !fleet.isOver) {
      const response = await send(key, ++sent).catch(lost);
      if (response?.status === 200) acknowledged += 1;
      else if (response && response.status !== 503) surprises.push(response.text);
      await Bun.sleep(pauseMs * Math.random());
    }
  }

  const all = Promise.all(keys.map(run));
  // `more` and `end` report the failure.
  all.catch(() => {});
  return {
    surprises,
    more(count) {
      const enough = acknowledged + count;
      const isEnough = until(() => acknowledged >= enough, patienceMs, `${count} changes`);
      return Promise.race([isEnough, all]);
    },
    async end() {
      isEnded = true;
      await all;
    },
  };
}

/** The rows of the ledger after `seq` as the API writes them, from an instance that runs. */
export async function readLedger(fleet: Fleet, key: string, seq = 0): Promise<string[]> {
  const rows: string[] = [];
  let path: string | undefined = `/changes?limit=1000&after=${seq}`;
  while (path) {
    const { status, text, headers } = await readPage(fleet, key, path);
    if (status !== 200) throw new Error(text);
    rows.push(...text.slice(1, -1).split(/,(?=\{"seq":)/));
    path = /<\/v1([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
  return rows;
}

/** Reads one page, also if the instance has just lost its connections to the database. */
async function readPage(fleet: Fleet, key: string, path: string): Promise<TestResponse> {
  let response = await fleet.call(0, "GET", path, { key });
  const isThere = async () => {
    if (response.status === 503) response = await fleet.call(0, "GET", path, { key });
    return response.status !== 503;
  };
  await until(isThere, patienceMs, path);
  return response;
}

export const seqOfRow = (row: string) => Number(/^\{"seq":(\d+)/.exec(row)![1]);
