import { findNearest } from "../domain/values/nearest.ts";

const prefix = "PETSTORE_";

/**
 * Variables that Kubernetes sets for a Service in the same namespace whose name starts with
 * "petstore", such as PETSTORE_SERVICE_HOST and PETSTORE_PORT=tcp://10.0.0.1:80.
 */
const serviceLink = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?$/;
const serviceLinkPort = /^(?:tcp|udp|sctp):\/\//;

/**
 * What is wrong with variables that look like settings and are none: a misspelt one would have no
 * effect. `known` are the variables of the settings.
 */
export function findUnknownVariables(
  variables: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): readonly string[] {
  const isUnknown = (name: string) =>
    name.startsWith(prefix) &&
    !known.includes(name) &&
    !serviceLink.test(name) &&
    !serviceLinkPort.test(variables[name] ?? "");
  return Object.keys(variables)
    .filter(isUnknown)
    .sort()
    .map((name) => {
      const meant = findVariable(name, known);
      return `unknown variable ${name}; ${meant ? `did you mean ${meant}?` : "see petstore --help"}`;
    });
}

/** Compares names without the prefix, which the variables PORT, HOST and DATABASE_URL do not have. */
function findVariable(name: string, known: readonly string[]): string | undefined {
  const bare = new Map(known.map((one) => [one.replace(prefix, ""), one]));
  const nearest = findNearest(name.slice(prefix.length), bare.keys());
  return nearest && bare.get(nearest);
}
