import { type Environment, environments } from "./domain/keys.ts";
import { petsDeprecatedAt } from "./domain/pets.ts";
import { formatInstant, parseInstant } from "./domain/values/instants.ts";

/** One thing that can be set: its names, its default, what it means, how its text is read. */
export interface Setting<T> {
  readonly flag: string;
  readonly variable: string;
  readonly initial: string;
  readonly meaning: string;
  readonly read: (text: string) => T;
  /** Whether its value must not be shown, not even in the message that refuses it. */
  readonly isSecret?: boolean;
}

/** The one list of settings: flags, variables, defaults and the help text come from here. */
export const settings = {
  port: setting("port", "PORT", "8080", "port to listen on; 0 picks a free one", portNumber),
  host: setting("host", "HOST", "127.0.0.1", "address to listen on", nonEmpty),
  environment: setting("env", "PETSTORE_ENV", "production", "production or staging", environment),
  databaseUrl: {
    ...setting(
      "database",
      "DATABASE_URL",
      "",
      "sqlite:PATH or postgres://…; sqlite:./data/<env>.db unless given",
      databaseUrl,
    ),
    isSecret: true,
  },
  petsSunsetAt: setting(
    "pets-sunset",
    "PETSTORE_PETS_SUNSET",
    "2027-12-31T00:00:00Z",
    "instant from which GET /pets/{petId} is gone",
    petsSunset,
  ),
  corsOrigins: setting(
    "cors-origins",
    "PETSTORE_CORS_ORIGINS",
    "",
    "browser origins that may call the API, separated by commas; * for any",
    origins,
  ),
  trustedProxies: setting(
    "trusted-proxies",
    "PETSTORE_TRUSTED_PROXIES",
    "",
    "addresses or networks whose X-Forwarded-For is believed, separated by commas",
    list,
  ),
  addressPerMinute: setting(
    "address-per-minute",
    "PETSTORE_ADDRESS_PER_MINUTE",
    "300",
    "requests without a valid key that one address may make in a minute",
    count,
  ),
  addressesMax: setting(
    "addresses-max",
    "PETSTORE_ADDRESSES_MAX",
    "100000",
    "client addresses counted one by one; further ones share a count",
    count,
  ),
  banGraceMs: setting(
    "ban-grace-ms",
    "PETSTORE_BAN_GRACE_MS",
    "1000",
    "time after a window's first 429 in which refusals are no strikes",
    count,
  ),
  banStrikesMin: setting(
    "ban-strikes-min",
    "PETSTORE_BAN_STRIKES_MIN",
    "20",
    "fewest strikes in one minute that ban a key",
    count,
  ),
  banStrikesDivisor: setting(
    "ban-strikes-divisor",
    "PETSTORE_BAN_STRIKES_DIVISOR",
    "10",
    "a key's requests per minute over this is its number of strikes, if larger",
    count,
  ),
  banMinutes: setting(
    "ban-minutes",
    "PETSTORE_BAN_MINUTES",
    "5",
    "length of the first ban; each further one within a day doubles",
    count,
  ),
  banMinutesMax: setting(
    "ban-minutes-max",
    "PETSTORE_BAN_MINUTES_MAX",
    "60",
    "length no ban exceeds",
    count,
  ),
  writesWaitingMax: setting(
    "writes-waiting-max",
    "PETSTORE_WRITES_WAITING_MAX",
    "10000",
    "updates that may wait for the disk; one more is answered 503",
    count,
  ),
  writesPerGroupMax: setting(
    "writes-per-group-max",
    "PETSTORE_WRITES_PER_GROUP_MAX",
    "1024",
    "updates that share one transaction at most",
    count,
  ),
  databasePatienceSeconds: setting(
    "database-patience-seconds",
    "PETSTORE_DATABASE_PATIENCE_SECONDS",
    "30",
    "how long a start waits for a PostgreSQL that cannot be reached yet",
    count,
  ),
  idleTimeoutSeconds: setting(
    "idle-timeout-seconds",
    "PETSTORE_IDLE_TIMEOUT_SECONDS",
    "10",
    "silence after which a connection is closed",
    timeout,
  ),
  drainSeconds: setting(
    "drain-seconds",
    "PETSTORE_DRAIN_SECONDS",
    "0",
    "how long a stopping service still listens, with /readyz 503",
    drain,
  ),
} as const;

function setting<T>(
  flag: string,
  variable: string,
  initial: string,
  meaning: string,
  read: (text: string) => T,
): Setting<T> {
  return { flag, variable, initial, meaning, read };
}

function portNumber(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error("must be a port from 0 to 65535");
  return port;
}

function count(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new Error("must be a whole number from 1 on");
  return Number(text);
}

function timeout(text: string): number {
  const seconds = count(text);
  if (seconds > 255) throw new Error("must be from 1 to 255 seconds");
  return seconds;
}

function drain(text: string): number {
  const seconds = /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= 3_600)) throw new Error("must be from 0 to 3600 seconds");
  return seconds;
}

function nonEmpty(text: string): string {
  if (text === "") throw new Error("must not be empty");
  return text;
}

function environment(text: string): Environment {
  const found = environments.find((one) => one === text);
  if (!found) throw new Error("must be production or staging");
  return found;
}

function databaseUrl(text: string): string {
  // Two slashes would begin a host in sqlite://data/shop.db; the file /data/shop.db is not meant.
  if (text !== "" && !/^(sqlite:(?!\/\/[^/]).+|postgres(ql)?:\/\/.+)$/.test(text)) {
    throw new Error("must be sqlite:PATH or postgres://…");
  }
  if (text.startsWith("postgres")) checkCredentials(text);
  return text;
}

const encoding = "percent-encode @ in the password as %40, / as %2F, ? as %3F, # as %23, % as %25";

/**
 * An address in which a password could be taken for a host is refused: part of the password would
 * be looked up as a name, and shown in messages as the place that cannot be reached.
 */
function checkCredentials(text: string): void {
  const [, authority = "", rest = ""] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (authority.split("@").length > 2 || rest.includes("@")) {
    throw new Error(`has an @ that does not stand before the host; ${encoding}`);
  }
  if (/%(?![0-9a-f]{2})/i.test(authority)) {
    throw new Error(`has a % without two hexadecimal digits after it; ${encoding}`);
  }
}

function instant(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new Error("must be a date such as 2027-12-31T00:00:00Z");
  return time;
}

/** RFC 9745 4: a sunset before the deprecation makes no sense to a client that reads both. */
function petsSunset(text: string): number {
  const time = instant(text);
  if (time < petsDeprecatedAt) {
    const since = formatInstant(petsDeprecatedAt);
    throw new Error(`must be ${since}, when the operation was deprecated, or later`);
  }
  return time;
}

/** An origin not written as browsers write it, with a path or a capital, would never match. */
function origins(text: string): readonly string[] {
  const found = list(text);
  const isOrigin = (one: string) => /^https?:/.test(one) && URL.parse(one)?.origin === one;
  const isApp = (one: string) => /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#@\sA-Z]+$/.test(one);
  if (!found.every((one) => one === "*" || isOrigin(one) || isApp(one))) {
    throw new Error("must be origins such as https://shop.example, separated by commas, or *");
  }
  return found;
}

function list(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}
