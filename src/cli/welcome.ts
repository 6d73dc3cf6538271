import type { Config } from "../config.ts";
import { sqlitePath } from "../store-file.ts";
import { programName } from "./program.ts";
import { samplePlan } from "./sample.ts";

/** What `quickstart` prints after it has filled an empty store. */
export function firstWelcome(baseUrl: string, key: string): readonly string[] {
  return `
The store was empty. It now has sample data and an API key (plan ${samplePlan}).
The key is shown only once:

  ${key}

Try it:

  curl -H "Authorization: Bearer ${key}" ${baseUrl}/inventory

API reference, with a form for each operation: ${new URL("/docs", baseUrl)}
`.split("\n");
}

/** What `quickstart` prints on every later start. Never a database address, which may have a password. */
export function laterWelcome(
  baseUrl: string,
  config: Config,
  given: Readonly<Record<string, string>>,
): readonly string[] {
  const path = sqlitePath(config);
  const settings = [
    ...(config.environment === "production" ? [] : ["--env", config.environment]),
    ...(path !== undefined && given.database !== undefined ? ["--database", given.database] : []),
  ];
  const words = ["keys", "create", "--name", "NAME", "--plan", samplePlan, ...settings];
  return [
    `API reference:  ${new URL("/docs", baseUrl)}`,
    `Database:       ${path ?? "PostgreSQL"}`,
    `Another key:    ${programName()} ${words.join(" ")}`,
  ];
}
