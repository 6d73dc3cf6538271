// The store of a round: what is in it before the load, and what is found in it afterwards.
import type { Store } from "../src/domain/store.ts";
import { verify } from "../src/domain/verification/verify.ts";
import { openWorkspace } from "../test/support/process.ts";
import { withStoreAt } from "../test/support/stocking.ts";
import { batchPets, type Found, findFaults, type Load, setPets } from "./load.ts";
import type { Wrong } from "./part.ts";

export interface Keys {
  readonly key: string;
  readonly operatorKey: string;
}

/**
 * Creates a store with the pets of the load and others, a key without practical limits and an operator
 * key. It uses the command line, so that another release creates its own store.
 */
export async function createStore(database: string, ...others: string[]): Promise<Keys> {
  const place = openWorkspace();
  async function run(words: readonly string[], stdin = ""): Promise<string> {
    const { code, out, err } = await place.run([...words, "--database", database], { stdin });
    if (code !== 0) throw new Error(`${words.join(" ")} failed: ${err}`);
    return out;
  }
  const create = async (...words: string[]): Promise<string> =>
    JSON.parse(await run(["keys", "create", "--json", "--name", ...words])).key;
  try {
    const rows = [...setPets, ...batchPets].map((petId) => `{"petId":${petId},"name":"Pet"}`);
    await run(["pets", "import", "-"], [...rows, ...others].join("\n"));
    const limits = ["--per-minute", "1000000", "--per-day", "100000000"];
    return {
      key: await create("load", "--plan", "enterprise", ...limits),
      operatorKey: await create("Ada", "--operator"),
    };
  } finally {
    await place.leave();
  }
}

/** The flags of a service whose webhooks may reach this machine. */
export const localWebhooks = [
  "--webhooks-allow-insecure",
  "--webhooks-allowed-networks",
  "127.0.0.0/8",
];

export interface Fault {
  readonly wrong: Wrong;
  readonly what: string;
}

/** Verifies a store and reads what the load is about. */
export async function contentOf({ inventory, keys, usage, webhooks, transfer }: Store) {
  const { faults } = await transfer.snapshot((snapshot) => verify(snapshot));
  const entries = await inventory.entriesAfter(null, 1_000_000);
  const found: Found = {
    quantities: new Map(entries.map((one) => [Number(one.petId), one.quantity])),
    keys: new Map((await keys.listKeys()).map((one) => [one.id, one.revokedAt !== null])),
    webhooks: new Set((await webhooks.listWebhooks()).map(({ id }) => id)),
    bans: new Set((await usage.loadBans()).map(({ keyId }) => keyId)),
  };
  return { faults, found };
}

/** Opens a store, verifies it and compares it with what clients were told until this position. */
export async function faultsIn(
  database: string,
  load: Load,
  position: number,
): Promise<readonly Fault[]> {
  try {
    const { faults, found } = await withStoreAt(database, contentOf);
    return [
      ...faults.map((what) => ({ wrong: "wrong", what }) as const),
      ...findFaults(load, found, position),
    ];
  } catch (error) {
    return [{ wrong: "wrong", what: `the store cannot be opened: ${error}` }];
  }
}
