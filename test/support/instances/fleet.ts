import {
  openWorkspace,
  type Ran,
  type RunOptions,
  type Served,
  type Workspace,
} from "../process.ts";
import { type CallOptions, call, type TestResponse } from "../service.ts";
import { importPets } from "../stocking.ts";

/** Several instances of the service on one database, each a separate process. */
export interface Fleet {
  readonly place: Workspace;
  readonly size: number;
  /** True from `leave` on: clients that still send stop, also if their trial has failed. */
  readonly isOver: boolean;
  /** The instance with this number. After a kill it is the dead one until another is started. */
  instance(index: number): Served;
  call(index: number, method: string, path: string, options?: CallOptions): Promise<TestResponse>;
  /** Kills one instance. */
  kill(index: number): Promise<void>;
  /** Stops one instance and returns its exit code. */
  stop(index: number): Promise<number>;
  /** Starts a new process in place of one that ended. */
  start(index: number): Promise<void>;
  /** Runs a command on the same database. */
  run(...words: string[]): Promise<Ran>;
  issueKey(...terms: string[]): Promise<{ id: string; key: string }>;
  /** Stops every instance. */
  leave(): Promise<void>;
}

export interface FleetOptions {
  readonly size?: number;
  readonly flags?: readonly string[];
  readonly pets?: readonly (bigint | number)[];
  /** The database address of one instance, if it differs from the others. */
  readonly addressOf?: (index: number) => string;
  /** The options of one instance's process. */
  readonly runOptions?: (index: number) => RunOptions;
}

/** The terms of a key that no test exhausts. */
export const boundless = ["--plan", "enterprise", "--per-minute", "900000000"].concat(
  "--per-day",
  "900000000",
);

export async function startFleet(databaseUrl: string, options: FleetOptions = {}): Promise<Fleet> {
  const { size = 3, flags = [], pets = [], addressOf = () => databaseUrl } = options;
  const place = openWorkspace();
  const onDatabase = ["--database", databaseUrl];
  const launch = (index: number) =>
    place.serve(["serve", "--database", addressOf(index), ...flags], options.runOptions?.(index));
  const rows = pets.map((petId) => `{"petId":${petId},"name":"Pet ${petId}"}`);
  if (rows.length > 0) await importPets(databaseUrl, ...rows);
  const instances = await Promise.all(Array.from({ length: size }, (_, index) => launch(index)));

  let isOver = false;

  return {
    place,
    size,
    get isOver() {
      return isOver;
    },
    instance: (index) => instances[index]!,
    call: (index, ...rest) => call(instances[index]!.baseUrl, ...rest),
    async kill(index) {
      instances[index]!.kill("SIGKILL");
      await instances[index]!.exited;
    },
    stop(index) {
      instances[index]!.kill("SIGTERM");
      return instances[index]!.exited;
    },
    async start(index) {
      instances[index] = await launch(index);
    },
    run: (...words) => place.run([...words, ...onDatabase]),
    issueKey: (...terms) =>
      place.json("keys", "create", "--name", "fleet", ...onDatabase, ...terms),
    leave() {
      isOver = true;
      return place.leave();
    },
  };
}
