import { startPostgres } from "../postgres.ts";
import { startStandby } from "../postgres-standby.ts";
import { until } from "../until.ts";
import { boundless, type FleetOptions, startFleet } from "./fleet.ts";
import { entriesOf, withDatabase } from "./recording.ts";
import { openSlowProxy } from "./slow-network.ts";

export interface PairOptions extends Pick<FleetOptions, "flags" | "runOptions"> {
  /** Whether the primary waits for the standby before it acknowledges a commit. */
  readonly synchronous: boolean;
  /**
   * How the instances reach the servers: by the addresses of both, or through one proxy. The proxy
   * leads to the primary until `redirect`, and does not move open connections.
   */
  readonly through?: "hosts" | "proxy";
  readonly size?: number;
  readonly pets?: readonly bigint[];
}

/** How long the instances may need to open their connections, and for the first update on a new primary. */
const readyMsMax = 10_000;
const updateMsMax = 20_000;

/** The last start of a pair. Its failure is reported to the test that began it. */
let starting: Promise<unknown> = Promise.resolve();

/**
 * Instances on a primary with a standby, and requests for pet 1. Concurrent tests start theirs one
 * after another: many servers that start at once are too slow for each other's timeouts.
 */
export function startPair(options: PairOptions) {
  const started = starting.then(() => startOne(options));
  starting = started.catch(() => {});
  return started;
}

async function startOne(options: PairOptions) {
  const { synchronous, through = "hosts", size = 1, pets = [1n], ...others } = options;
  const primary = await startPostgres();
  const { pathname } = new URL(await primary.freshDatabase());
  const name = pathname.slice(1);
  const standby = await startStandby(primary, { synchronous });
  const proxy = openSlowProxy(primary.port, () => 0);
  const hosts =
    through === "proxy"
      ? `127.0.0.1:${proxy.port}`
      : `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const fleet = await startFleet(`postgres://postgres@${hosts}${pathname}`, {
    size,
    pets,
    ...others,
  });
  const { id: keyId, key } = await fleet.issueKey(...boundless);
  const urls = { primary: primary.url(name), standby: standby.url(name) };
  const isReady = async (index = 0) => (await fleet.call(index, "GET", "~/readyz")).status === 200;
  for (let index = 0; index < size; index++) {
    await until(() => isReady(index), readyMsMax, `readiness of instance ${index}`);
  }
  return {
    name,
    urls,
    primary,
    standby,
    proxy,
    fleet,
    key,
    keyId,
    /**
     * Waits until the standby has replayed everything the primary has committed. Commits that do not
     * wait for the disk, such as counts of requests, are sent once a later one does: that of the message.
     */
    async replayed() {
      const [[end]] = await withDatabase(urls.primary, (sql) =>
        sql`SELECT pg_logical_emit_message(true, '', '')::text`.values(),
      );
      const behind = async () =>
        (
          await withDatabase(urls.standby, (sql) =>
            sql`SELECT pg_last_wal_replay_lsn() < ${end}::pg_lsn`.values(),
          )
        )[0][0];
      while (await behind()) await Bun.sleep(10);
    },
    async patch(quantity: number, index = 0) {
      const body = `{"quantity":${quantity}}`;
      return (await fleet.call(index, "PATCH", "/inventory/1", { key, body })).status;
    },
    /**
     * Sends an update until it is acknowledged. A connection to a new primary may take longer than a
     * request waits for it.
     */
    async acknowledged(quantity: number) {
      const isUpdated = async () => (await this.patch(quantity)) === 200;
      await until(isUpdated, updateMsMax, `an acknowledged update to ${quantity}`);
    },
    async get(tag?: string, index = 0) {
      const headers: Record<string, string> = tag ? { "If-None-Match": tag } : {};
      const response = await fleet.call(index, "GET", "/inventory", { key, headers });
      const quantity = entriesOf(response.text).get(1n);
      return { status: response.status, quantity, tag: response.headers.get("etag") ?? "" };
    },
    isReady,
    async [Symbol.asyncDispose]() {
      await fleet.leave();
      proxy.close();
      await Promise.all([primary.destroy(), standby.destroy()]);
    },
  };
}
