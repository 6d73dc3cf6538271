import { ServiceError } from "../../../domain/running/errors.ts";

/** A parsed connection string. */
export interface Address {
  /** One connection string per host, because Bun's client accepts only one host. */
  readonly urls: readonly string[];
  /**
   * Whether statements are prepared under a name. A pooler that shares connections between clients
   * may not know the name. `?prepare=false` costs more round trips per group of updates.
   */
  readonly prepare: boolean;
  /**
   * Host and database for messages, without user and password. In an address without a user the
   * host may be a misplaced user and the port a password, so nothing is shown.
   */
  readonly label: string;
}

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;

/** Reads `postgres://user:password@host:5432,other:5433/name?sslmode=require&prepare=false`. */
export function parseAddress(text: string): Address {
  const match = shape.exec(text);
  if (!match) throw new ServiceError("invalid_request", "the database address is not postgres://…");
  const [, opening, hosts = "", path = "", queryText = ""] = match;
  const query = new URLSearchParams(queryText);
  const prepare = query.get("prepare");
  if (prepare !== null && prepare !== "true" && prepare !== "false") {
    throw new ServiceError(
      "invalid_request",
      "prepare in the database address must be true or false",
    );
  }
  query.delete("prepare");
  // With several hosts the service always uses the one that accepts writes.
  query.delete("target_session_attrs");
  const authority = hosts === "" ? hostOf(query) : hosts;
  const ending = path + (query.size > 0 ? `?${query}` : "");
  const urls = authority.split(",").map((host) => `${opening}${host}${ending}`);
  if (!urls.every((url) => URL.canParse(url))) {
    throw new ServiceError("invalid_request", "the database address contains an invalid host");
  }
  return {
    urls,
    prepare: prepare !== "false",
    label: opening!.endsWith("@")
      ? `${query.get("host") ?? authority}${path}`
      : "the address that was set",
  };
}

/** Reads `postgres://user@/name?host=/run/postgresql&port=5433`: the folder of a socket, or a host. */
function hostOf(query: URLSearchParams): string {
  // Always set: without a host in the address the client takes one from the environment.
  const host = query.get("host") || "localhost";
  const port = query.get("port");
  query.delete("port");
  // The client reads the folder from the query, but the port only from the authority.
  if (!host.startsWith("/")) query.delete("host");
  return (host.startsWith("/") ? "localhost" : host) + (port === null ? "" : `:${port}`);
}

/**
 * The parts of the address as explicit options. Without them the client prefers some environment
 * variables (PGDATABASE) to the address, and fills in missing parts from others.
 */
export function connectionOptions(url: string) {
  const { username, password, port, pathname } = new URL(url);
  const user = decodeURIComponent(username) || "postgres";
  return {
    username: user,
    // A function: instead of an empty string the client would use PGPASSWORD.
    password: () => decodeURIComponent(password),
    port: Number(port) || 5432,
    database: decodeURIComponent(pathname.slice(1)) || user,
  };
}
