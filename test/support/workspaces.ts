import type { Store } from "../../src/domain/store.ts";
import { createdDatabase } from "./postgres-template.ts";
import { openWorkspace, petstore, type Workspace } from "./process.ts";
import type { Engine } from "./service.ts";
import { createKey, importPets, withStoreAt } from "./stocking.ts";

/** A workspace whose commands use an empty database of one engine. */
export interface StoreWorkspace extends Workspace {
  /** The address of the database. */
  readonly database: string;
  /** Runs a command with --json and returns what each line of its output says. */
  rows<T>(...words: string[]): Promise<T[]>;
  /** Imports pets, each as JSON. */
  importPets(...pets: readonly string[]): Promise<void>;
  /** Issues a key of the plan business. */
  createKey(name: string): Promise<{ id: string; key: string }>;
  /** Opens the store as a command does, for what no command does. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Runs a command on a terminal of this width and returns what it shows. */
  runOnTerminal(columns: number, ...words: string[]): Promise<string>;
}

export async function openStoreWorkspace(engine: Engine): Promise<StoreWorkspace> {
  const variables: Record<string, string> =
    engine === "postgres" ? { DATABASE_URL: await createdDatabase() } : {};
  const place = openWorkspace(variables);
  const database = variables.DATABASE_URL ?? `sqlite:${place.path("data/production.db")}`;
  return {
    ...place,
    database,
    async rows<T>(...words: string[]) {
      const { code, out, err } = await place.runHere([...words, "--json"]);
      if (code !== 0) throw new Error(`${words.join(" ")} failed: ${err}`);
      return out
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as T);
    },
    importPets: (...pets) => importPets(database, ...pets),
    createKey: (name) => createKey(database, { name, plan: "business" }),
    withStore: (work) => withStoreAt(database, work),
    async runOnTerminal(columns, ...words) {
      const written: Uint8Array[] = [];
      const child = Bun.spawn([petstore, ...words], {
        cwd: place.folder,
        env: { PATH: process.env.PATH ?? "", TZ: "UTC", ...variables },
        terminal: { cols: columns, data: (_terminal, bytes) => void written.push(bytes.slice()) },
      });
      if ((await child.exited) !== 0) throw new Error(`${words.join(" ")} failed`);
      return Buffer.concat(written).toString().replaceAll("\r\n", "\n");
    },
  };
}
