import type { Config } from "../config.ts";
import { sqlitePath } from "../store-file.ts";
import { programName } from "./program.ts";
import { type FirstKeys, samplePlan } from "./sample.ts";

/** What `quickstart` prints after it has filled an empty store. */
export function firstWelcome(baseUrl: string, keys: FirstKeys): readonly string[] {
  return `
The store was empty. It now has sample data, an operator key and an API key (plan ${samplePlan}).
The keys are shown only once.

Console:       ${new URL("/console", baseUrl)}
Operator key:  ${keys.operator}

API reference: ${new URL("/docs", baseUrl)}
API key:       ${keys.api}

Try the API:

  curl -H "Authorization: Bearer ${keys.api}" ${baseUrl}/inventory
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
  const create = `${programName()} keys create --name NAME`;
  const more = settings.length > 0 ? ` ${settings.join(" ")}` : "";
  return [
    `Console:        ${new URL("/console", baseUrl)}`,
    `API reference:  ${new URL("/docs", baseUrl)}`,
    `Database:       ${path ?? "PostgreSQL"}`,
    `Another key:    ${create} --plan ${samplePlan}${more}`,
    `Operator key:   ${create} --operator${more}`,
  ];
}
