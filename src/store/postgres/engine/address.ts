import { Refusal } from "../../../domain/errors.ts";

/** A connection string taken apart. */
export interface Address {
  /** One connection string per host: Bun's client takes only one host at a time. */
  readonly urls: readonly string[];
  /**
   * Whether statements are prepared under a name. A pooler that hands connections from client to
   * client may not know the name; `?prepare=false` costs two more round trips a group.
   */
  readonly prepare: boolean;
  /**
   * Where it points, without user and password: fit for messages. Without a user the word before
   * the colon may be one, and the port a password, so nothing is shown.
   */
  readonly label: string;
}

const shape = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(\/[^?]*)?(?:\?(.*))?$/;

/** Reads `postgres://user:password@host:5432,other:5433/name?sslmode=require&prepare=false`. */
export function parseAddress(text: string): Address {
  const match = shape.exec(text);
  if (!match) throw new Refusal("invalid_request", "the database address is not postgres://…");
  const [, opening, hosts = "", path = "", queryText = ""] = match;
  const query = new URLSearchParams(queryText);
  const prepare = query.get("prepare");
  if (prepare !== null && prepare !== "true" && prepare !== "false") {
    throw new Refusal("invalid_request", "prepare in the database address must be true or false");
  }
  query.delete("prepare");
  // Several hosts always mean the one that can be written; nothing else is offered.
  query.delete("target_session_attrs");
  const authority = hosts === "" ? hostOf(query) : hosts;
  const ending = path + (query.size > 0 ? `?${query}` : "");
  const urls = authority.split(",").map((host) => `${opening}${host}${ending}`);
  if (!urls.every((url) => URL.canParse(url))) {
    throw new Refusal("invalid_request", "the database address names a host that is none");
  }
  return {
    urls,
    prepare: prepare !== "false",
    label: opening!.endsWith("@")
      ? `${query.get("host") ?? authority}${path}`
      : "the address that was set",
  };
}

/** `postgres://user@/name?host=/run/postgresql&port=5433`: the folder of a socket, or a host. */
function hostOf(query: URLSearchParams): string {
  // Named always: for an address without a host the client would take one from the environment.
  const host = query.get("host") || "localhost";
  const port = query.get("port");
  query.delete("port");
  // The client itself reads the folder from the query, and the port from where it always stands.
  if (!host.startsWith("/")) query.delete("host");
  return (host.startsWith("/") ? "localhost" : host) + (port === null ? "" : `:${port}`);
}

/**
 * What the address says, said once more: left to itself, the client prefers some variables of the
 * environment (PGDATABASE) to the address and fills gaps from others.
 */
export function connectionOptions(url: string) {
  const { username, password, port, pathname } = new URL(url);
  const user = decodeURIComponent(username) || "postgres";
  return {
    username: user,
    // A function: in the place of an empty text the client would take PGPASSWORD.
    password: () => decodeURIComponent(password),
    port: Number(port) || 5432,
    database: decodeURIComponent(pathname.slice(1)) || user,
  };
}
