import { parseArgs } from "node:util";
import { Refusal } from "./domain/errors.ts";
import { parseInstant } from "./domain/instants.ts";
import { type Environment, environments } from "./domain/keys.ts";
import type { BanRules } from "./domain/limits.ts";

/** Everything that can be set, in one frozen value. Units and bounds stand at the end of names. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly environment: Environment;
  readonly databaseUrl: string;
  /** From this instant on GET /pets/{petId} answers 410. Milliseconds since 1970. */
  readonly petsSunsetAt: number;
  readonly corsOrigins: readonly string[];
  /** Addresses or networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Requests without a valid key that one client address may make. */
  readonly addressPerMinute: number;
  readonly addressesMax: number;
  readonly ban: BanRules;
  readonly bodyBytesMax: number;
  /** The HTTP parser's own limit, answered without an Error body; only a backstop. */
  readonly bodyBytesBackstop: number;
  readonly idleTimeoutSeconds: number;
  readonly writesPerGroupMax: number;
  readonly writesWaitingMax: number;
  /** Requests that may wait to be counted in a shared database; one more is answered 503. */
  readonly requestsWaitingMax: number;
  /** How long a start waits for a database that cannot be reached yet. */
  readonly databasePatienceMs: number;
  readonly keysRememberedMax: number;
  /** Entries whose bytes are written anew together when one of them changes. */
  readonly listChunkEntries: number;
  /** Bytes of older lists that slow readers may keep in memory. */
  readonly listHeldBytesMax: number;
  /** How long requests in flight may take to finish once a stop was asked for. */
  readonly stopGraceMs: number;
}

interface Setting<T> {
  readonly flag: string;
  readonly variable: string;
  readonly initial: string;
  readonly meaning: string;
  readonly read: (text: string) => T;
}

/** The one list of settings: flags, environment variables, defaults and docs come from here. */
export const settings = {
  port: setting("port", "PORT", "8080", "port to listen on; 0 picks a free one", portNumber),
  host: setting("host", "HOST", "127.0.0.1", "address to listen on", nonEmpty),
  environment: setting("env", "PETSTORE_ENV", "production", "production or staging", environment),
  databaseUrl: setting(
    "database",
    "DATABASE_URL",
    "",
    "sqlite:PATH or postgres://…; sqlite:./data/<env>.db unless given",
    databaseUrl,
  ),
  petsSunsetAt: setting(
    "pets-sunset",
    "PETSTORE_PETS_SUNSET",
    "2027-12-31T00:00:00Z",
    "instant from which GET /pets/{petId} is gone",
    instant,
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
} as const;

const settingOptions = Object.fromEntries(
  Object.values(settings).map((one) => [one.flag, { type: "string" as const }]),
);

type Values = Record<string, unknown>;

/** Reads the settings: the flag wins over the environment, the environment over the default. */
export function readConfig(flags: Values, variables: NodeJS.ProcessEnv = process.env): Config {
  const value = <T>(one: Setting<T>): T => {
    const flag = flags[one.flag];
    const [source, text] =
      typeof flag === "string"
        ? [`--${one.flag}`, flag]
        : variables[one.variable]
          ? [one.variable, variables[one.variable]!]
          : ["", one.initial];
    try {
      return one.read(text);
    } catch (error) {
      throw new Refusal("invalid_request", `${source} ${(error as Error).message}, not '${text}'`);
    }
  };
  const env = value(settings.environment);
  return Object.freeze({
    port: value(settings.port),
    host: value(settings.host),
    environment: env,
    databaseUrl: value(settings.databaseUrl) || `sqlite:./data/${env}.db`,
    petsSunsetAt: value(settings.petsSunsetAt),
    corsOrigins: value(settings.corsOrigins),
    trustedProxies: value(settings.trustedProxies),
    addressPerMinute: value(settings.addressPerMinute),
    addressesMax: value(settings.addressesMax),
    ban: Object.freeze({
      graceMs: value(settings.banGraceMs),
      strikesMin: value(settings.banStrikesMin),
      strikesDivisor: value(settings.banStrikesDivisor),
      banMs: value(settings.banMinutes) * 60_000,
      banMsMax: value(settings.banMinutesMax) * 60_000,
      ladderMs: 86_400_000,
    }),
    bodyBytesMax: 64 * 1024,
    bodyBytesBackstop: 1024 * 1024,
    idleTimeoutSeconds: value(settings.idleTimeoutSeconds),
    writesPerGroupMax: value(settings.writesPerGroupMax),
    writesWaitingMax: value(settings.writesWaitingMax),
    requestsWaitingMax: 10_000,
    databasePatienceMs: value(settings.databasePatienceSeconds) * 1_000,
    keysRememberedMax: 10_000,
    listChunkEntries: 4_096,
    listHeldBytesMax: 256 * 1024 * 1024,
    stopGraceMs: 10_000,
  });
}

/** Splits a command's words into flags and the rest; an unknown flag is refused by name. */
export function readFlags(
  words: string[],
  extra: Record<string, { type: "string" | "boolean" }> = {},
): { flags: Values; rest: string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: { ...settingOptions, ...extra },
      allowPositionals: true,
    });
    return { flags: values as Values, rest: positionals };
  } catch (error) {
    const first = (error as Error).message.split(/\.\s|\.?\n|\.$/)[0]!;
    throw new Refusal("invalid_request", first.charAt(0).toLowerCase() + first.slice(1));
  }
}

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
  if (text !== "" && !/^(sqlite:.+|postgres(ql)?:\/\/.+)$/.test(text)) {
    throw new Error("must be sqlite:PATH or postgres://…");
  }
  return text;
}

function instant(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new Error("must be a date such as 2027-12-31T00:00:00Z");
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
