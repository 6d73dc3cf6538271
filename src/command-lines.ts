import type { Config } from "./config.ts";
import { quoted } from "./domain/values/shell.ts";

/** The settings that say which store a command works on, and how to read its backups. */
const kept = ["config", "env", "database", "backup-key-file"];

/**
 * A command line for the same store, to be copied into a shell: with the settings that were given as flags.
 * Only the address of a file is repeated, because another one may have a password.
 */
export function commandLine(
  { given }: Pick<Config, "given">,
  words: readonly string[],
  program = "petstore",
): string {
  const flags = kept.flatMap((name) => {
    const text = String(given[name] ?? "");
    const isSecret = name === "database" && !text.startsWith("sqlite:");
    return text === "" ? [] : [`--${name}`, isSecret ? "THE_SAME_ADDRESS" : text];
  });
  return [program, ...words, ...flags].map(quoted).join(" ");
}
