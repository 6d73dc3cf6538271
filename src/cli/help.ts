import { planNames } from "../domain/plans.ts";
import { settings } from "../settings.ts";

export function usage(): string {
  const all = Object.values(settings);
  const flagWidth = Math.max(...all.map(({ flag }) => flag.length));
  const variableWidth = Math.max(...all.map(({ variable }) => variable.length));
  const rows = all.map(({ flag, variable, initial, meaning }) => {
    const names = `--${flag.padEnd(flagWidth)}  ${variable.padEnd(variableWidth)}`;
    return `  ${names}  ${meaning}${initial === "" ? "" : ` [${initial}]`}`;
  });
  return `petstore: the pet store inventory service

  petstore serve
  petstore quickstart                        serve; an empty store first gets a sample and a key
  petstore keys create --name NAME --plan ${planNames.join("|")}
                       [--per-minute N --per-day N] [--scopes a,b] [--expires ISO] [--json]
  petstore keys list | show ID | rotate ID [--overlap 24h] | revoke ID | unban ID   [--json]
  petstore pets import FILE | export FILE    .json .ndjson .csv; - for a pipe (--format csv)
  petstore orders import FILE
  petstore verify                            compare everything in the store with everything else
  petstore migrate-store --from DATABASE --to DATABASE    carry everything over to an empty store

Settings, as a flag or in the environment; the flag wins:
${rows.join("\n")}
`;
}
