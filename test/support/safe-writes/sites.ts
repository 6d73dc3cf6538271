import { Database } from "bun:sqlite";
import { type AnyFault, inflict } from "../instances/chaos.ts";
import { type ClusterOptions, startCluster } from "../instances/cluster.ts";
import { boundless } from "../instances/fleet.ts";
import { withDatabase } from "../instances/recording.ts";
import { openWorkspace, type Ran } from "../process.ts";
import type { Engine } from "../service.ts";
import type { Row } from "./history.ts";
import type { Target } from "./traffic.ts";

/** Instances of the service on one database, and the faults that can happen to them. */
export interface Site extends Target {
  readonly initial: ReadonlyMap<bigint, number>;
  readonly faults: readonly string[];
  /** Lets a fault happen. `more` resolves once more writes were acknowledged. */
  inflict(
    fault: string,
    round: number,
    more: () => Promise<void>,
    random?: () => number,
  ): Promise<void>;
  /** The rows after those of the import. */
  ledger(): Promise<Row[]>;
  verify(): Promise<Ran>;
  leave(): Promise<void>;
}

/** The last counted pet starts without stock, so some deltas are rejected. */
const counted = [1n, 2n, 3n];
const set = [4n, 5n, 9007199254740993n];
const initial = new Map<bigint, number>([
  [1n, 1_000],
  [2n, 50],
  [3n, 0],
  ...set.map((petId) => [petId, 7] as const),
]);
const importedPets = Array.from(
  initial,
  ([petId, quantity]) => `{"petId":${petId},"name":"Pet ${petId}","quantity":${quantity}}`,
).join("\n");

const rowColumns =
  "seq, pet_id, quantity_before, quantity_after, previous, reason, request_id FROM ledger";

function toRow(values: readonly unknown[]): Row {
  const [seq, petId, before, after, previous, reason, requestId] = values;
  return {
    seq: Number(seq),
    petId: petId as bigint,
    before: before === null ? null : Number(before),
    after: Number(after),
    previous: previous === null ? null : Number(previous),
    reason: reason as string | null,
    requestId: requestId as string | null,
  };
}

/** The number of instances counts on PostgreSQL only. */
export const openSite: Record<
  Engine,
  (options: Pick<ClusterOptions, "size" | "hasSmallDisk">) => Promise<Site>
> = {
  async sqlite() {
    const place = openWorkspace();
    await place.runHere(["pets", "import", "-"], { stdin: importedPets });
    const { key } = await place.json<{ key: string }>(
      "keys",
      "create",
      "--name",
      "safe",
      ...boundless,
    );
    let service = await place.serve();
    return {
      instances: 1,
      baseUrl: () => service.baseUrl,
      key,
      counted,
      set,
      initial,
      faults: ["the service is killed", "the service is replaced"],
      async inflict(fault) {
        const isKilled = fault === "the service is killed";
        service.kill(isKilled ? "SIGKILL" : "SIGTERM");
        const code = await service.exited;
        if (!isKilled && code !== 0) throw new Error(`the service returned ${code}`);
        service = await place.serve();
      },
      async ledger() {
        const path = place.path("data/production.db");
        using database = new Database(path, { readonly: true, safeIntegers: true });
        const query = database.query(`SELECT ${rowColumns} WHERE seq > ? ORDER BY seq`);
        return query.values(initial.size).map(toRow);
      },
      verify: () => place.runHere(["verify"]),
      leave: () => place.leave(),
    };
  },

  async postgres(options) {
    const cluster = await startCluster("postgres", options);
    const { databaseUrl, fleet } = cluster;
    const onDatabase = ["--database", databaseUrl];
    await fleet.place.runHere(["pets", "import", "-", ...onDatabase], { stdin: importedPets });
    const { key } = await fleet.issueKey(...boundless);
    return {
      instances: fleet.size,
      baseUrl: (index) => fleet.instance(index).baseUrl,
      key,
      counted,
      set,
      initial,
      faults: [
        "an instance and the database are killed together",
        "an instance is killed",
        "connections are cut",
        "the database is killed",
        "the database is restarted",
        "an instance is replaced in good order",
      ],
      inflict: (fault, round, more, random) =>
        inflict(fault as AnyFault, cluster, round % fleet.size, more, random),
      ledger: () =>
        withDatabase(databaseUrl, async (sql) => {
          const text = `SELECT ${rowColumns} WHERE seq > ${initial.size} ORDER BY seq`;
          const rows: unknown[][] = await sql.unsafe(text).values();
          return rows.map(toRow);
        }),
      verify: () => fleet.place.runHere(["verify", ...onDatabase]),
      leave: async () => cluster[Symbol.asyncDispose](),
    };
  },
};
