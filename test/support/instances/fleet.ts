import { enterPlace, type Place, type Ran, type RunOptions, type Served } from "../process.ts";
import { type CallOptions, call, type TestAnswer } from "../service.ts";

/** Several instances of the service, each a process of its own, on one database. */
export interface Fleet {
  readonly place: Place;
  readonly size: number;
  /** The instance that holds this number now; a dead one until another is started. */
  instance(index: number): Served;
  call(index: number, method: string, path: string, options?: CallOptions): Promise<TestAnswer>;
  /** Ends one instance as a crash would. */
  kill(index: number): Promise<void>;
  /** Ends one instance in good order; its exit code. */
  stop(index: number): Promise<number>;
  /** Puts a new process where one ended. */
  start(index: number): Promise<void>;
  /** Runs a command on the same database. */
  run(...words: string[]): Promise<Ran>;
  issueKey(...terms: string[]): Promise<{ id: string; key: string }>;
  /** Ends every instance. */
  leave(): Promise<void>;
}

export interface FleetOptions {
  readonly size?: number;
  readonly flags?: readonly string[];
  readonly pets?: readonly (bigint | number)[];
  /** Where one instance finds the database, if it goes another way than the others. */
  readonly wayOf?: (index: number) => string;
  /** How the process of one instance differs from the others. */
  readonly options?: (index: number) => RunOptions;
}

/** A key that no test uses up. */
export const boundless = ["--plan", "enterprise", "--per-minute", "900000000"].concat(
  "--per-day",
  "900000000",
);

export async function startFleet(databaseUrl: string, asked: FleetOptions = {}): Promise<Fleet> {
  const { size = 3, flags = [], pets = [], wayOf = () => databaseUrl } = asked;
  const place = enterPlace();
  const onDatabase = ["--database", databaseUrl];
  const launch = (index: number) =>
    place.serve(["serve", "--database", wayOf(index), ...flags], asked.options?.(index));
  const rows = pets.map((petId) => `{"petId":${petId},"name":"Pet ${petId}"}`);
  if (rows.length > 0) {
    const stdin = rows.join("\n");
    const { code, err } = await place.run(["pets", "import", "-", ...onDatabase], { stdin });
    if (code !== 0) throw new Error(`the pets were not imported: ${err}`);
  }
  const instances = await Promise.all(Array.from({ length: size }, (_, index) => launch(index)));

  return {
    place,
    size,
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
    leave: () => place.leave(),
  };
}

/** Resolves once it is true; how long that took, in milliseconds. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  patienceMs: number,
  what: string,
): Promise<number> {
  const started = performance.now();
  while (!(await isTrue())) {
    const waitedMs = performance.now() - started;
    if (waitedMs > patienceMs) throw new Error(`${what}: not within ${patienceMs} ms`);
    await Bun.sleep(5);
  }
  return performance.now() - started;
}
