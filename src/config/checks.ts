import type { SettingValues } from "../settings.ts";

/** Values that were read. Those with a problem of their own are missing. */
type Values = { readonly [Name in keyof SettingValues]?: SettingValues[Name] | undefined };

/** Addresses that accept connections for every address of the machine. */
const everyAddress = new Set(["0.0.0.0", "::"]);

/** What is wrong with settings that do not fit each other, one sentence each. */
export function checkTogether(values: Values): readonly string[] {
  const problems: string[] = [];
  const { tlsCertFile, tlsKeyFile, banMs, banMsMax, port, metricsPort } = values;
  if (tlsCertFile !== undefined && tlsKeyFile !== undefined && !tlsCertFile !== !tlsKeyFile) {
    const [present, missing] = tlsCertFile ? ["tls-cert", "tls-key"] : ["tls-key", "tls-cert"];
    problems.push(`--${present} needs --${missing}: set both or neither`);
  }
  if (banMs !== undefined && banMsMax !== undefined && banMsMax < banMs) {
    problems.push("--ban-minutes-max must not be less than --ban-minutes");
  }
  // Port 0 picks a free port for each.
  if (port && metricsPort === port && sameAddress(values.host, values.metricsHost)) {
    problems.push(`--metrics-port must differ from --port, which is also ${port}`);
  }
  if (values.replicaCheck && /^postgres/.test(values.databaseUrl ?? "")) {
    problems.push("--replica-check is for stores on SQLite: remove it, and see docs/backup.md");
  }
  return problems;
}

function sameAddress(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one === other || everyAddress.has(one) || everyAddress.has(other);
}
