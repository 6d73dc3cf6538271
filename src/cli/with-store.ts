import { openStore, systemClock } from "../compose.ts";
import { type Config, readConfig, readFlags } from "../config.ts";
import { Refusal } from "../domain/errors.ts";
import type { Store } from "../domain/ports.ts";

export interface Opened {
  readonly config: Config;
  readonly flags: Record<string, unknown>;
  readonly rest: readonly string[];
  readonly store: Store;
}

type Options = Record<string, { type: "string" | "boolean" }>;

/**
 * Opens the store a command works on, runs it, and closes the store whatever happens. `operands`
 * names the words a command needs besides its flags, for the message when they are not there.
 */
export async function withStore(
  words: string[],
  options: Options,
  operands: readonly string[],
  work: (opened: Opened) => Promise<number>,
): Promise<number> {
  const { flags, rest } = readFlags(words, options);
  if (rest.length !== operands.length) {
    const expected = operands.length === 0 ? "no further words" : operands.join(" ");
    throw new Refusal("invalid_request", `this command takes ${expected}`);
  }
  const config = readConfig(flags);
  const store = await openStore(config, systemClock);
  try {
    return await work({ config, flags, rest, store });
  } finally {
    await store.close();
  }
}
