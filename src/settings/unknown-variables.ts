import { ServiceError } from "../domain/errors.ts";
import { findNearest } from "../domain/values/nearest.ts";

const prefix = "PETSTORE_";

/**
 * Variables that Kubernetes sets for a Service in the same namespace whose name starts with
 * "petstore", such as PETSTORE_SERVICE_HOST and PETSTORE_PORT=tcp://10.0.0.1:80.
 */
const serviceLink = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/;
const serviceLinkPort = /^(?:tcp|udp|sctp):\/\//;

/**
 * Rejects a variable that looks like a setting and is none: a misspelt one would have no effect.
 * `known` are the variables of the settings.
 */
export function rejectUnknownVariables(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): void {
  for (const name of Object.keys(variables).sort()) {
    if (!name.startsWith(prefix) || known.includes(name)) continue;
    if (serviceLink.test(name) || serviceLinkPort.test(variables[name] ?? "")) continue;
    const meant = findVariable(name, known);
    const advice = meant ? `did you mean ${meant}?` : "see petstore --help";
    throw new ServiceError("invalid_request", `unknown variable ${name}; ${advice}`);
  }
}

/** Compares names without the prefix, which the variables PORT, HOST and DATABASE_URL do not have. */
function findVariable(name: string, known: readonly string[]): string | undefined {
  const bare = new Map(known.map((one) => [one.replace(prefix, ""), one]));
  const nearest = findNearest(name.slice(prefix.length), bare.keys());
  return nearest && bare.get(nearest);
}
