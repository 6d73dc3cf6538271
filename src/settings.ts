import { environments } from "./domain/keys.ts";
import {
  readChangesWaiting,
  readCount,
  readDatabaseUrl,
  readDays,
  readDrain,
  readEnvironment,
  readIdleTimeout,
  readList,
  readMinutes,
  readNetworks,
  readNonEmpty,
  readOrigins,
  readPetsSunset,
  readPort,
  readSeconds,
  readSwitch,
} from "./setting-readers.ts";

/** A value that an operator can set, with a flag or an environment variable. */
export interface Setting<T> {
  readonly flag: string;
  readonly variable: string;
  /**
   * What the value is called in help: --port PORT. A setting without a placeholder is a switch: its
   * flag takes no value and means `on`.
   */
  readonly placeholder?: string;
  /** Used if neither the flag nor the variable is set. `<env>` stands for the environment. */
  readonly default: string;
  /** One or two sentences, for help and for docs/operating.md. */
  readonly description: string;
  /** Converts the text. The message of the error that it throws follows the flag's name. */
  readonly read: (text: string) => T;
  /** The value may contain a password, so no message shows it. */
  readonly isSecret?: boolean;
}

/**
 * Every setting. Names are the fields of Config. Flags, variables, help and the table in
 * docs/operating.md are derived from this list.
 */
export const settings = {
  port: setting({
    flag: "port",
    variable: "PORT",
    placeholder: "PORT",
    default: "8080",
    description: "Port to listen on. 0 picks a free port.",
    read: readPort,
  }),
  host: setting({
    flag: "host",
    variable: "HOST",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    description: "Address to listen on.",
    read: readNonEmpty,
  }),
  environment: setting({
    flag: "env",
    variable: "PETSTORE_ENV",
    placeholder: environments.join("|"),
    default: "production",
    description: "Environment: `production` or `staging`.",
    read: readEnvironment,
  }),
  databaseUrl: setting({
    flag: "database",
    variable: "DATABASE_URL",
    placeholder: "DATABASE",
    default: "sqlite:./data/<env>.db",
    description: "Database: `sqlite:PATH` or `postgres://HOST/NAME`.",
    read: readDatabaseUrl,
    isSecret: true,
  }),
  petsSunsetAt: setting({
    flag: "pets-sunset",
    variable: "PETSTORE_PETS_SUNSET",
    placeholder: "TIME",
    default: "2027-12-31T00:00:00Z",
    description: "Time from which `GET /v1/pets/{petId}` returns 410.",
    read: readPetsSunset,
  }),
  corsOrigins: setting({
    flag: "cors-origins",
    variable: "PETSTORE_CORS_ORIGINS",
    placeholder: "ORIGINS",
    default: "",
    description:
      "Browser origins that may call the API, separated by commas. `*` allows any origin.",
    read: readOrigins,
  }),
  trustedProxies: setting({
    flag: "trusted-proxies",
    variable: "PETSTORE_TRUSTED_PROXIES",
    placeholder: "NETWORKS",
    default: "",
    description:
      "Proxies whose `X-Forwarded-For` is trusted: addresses or networks, separated by commas.",
    read: readList,
  }),
  addressPerMinute: setting({
    flag: "address-per-minute",
    variable: "PETSTORE_ADDRESS_PER_MINUTE",
    placeholder: "N",
    default: "300",
    description: "Requests per minute without a valid key, per client address.",
    read: readCount,
  }),
  addressesMax: setting({
    flag: "addresses-max",
    variable: "PETSTORE_ADDRESSES_MAX",
    placeholder: "N",
    default: "100000",
    description: "Client addresses counted separately. Further addresses share one count.",
    read: readCount,
  }),
  banGraceMs: setting({
    flag: "ban-grace-ms",
    variable: "PETSTORE_BAN_GRACE_MS",
    placeholder: "N",
    default: "1000",
    description: "Time after the first 429 of a window during which further 429s are not strikes.",
    read: readCount,
  }),
  banStrikesMin: setting({
    flag: "ban-strikes-min",
    variable: "PETSTORE_BAN_STRIKES_MIN",
    placeholder: "N",
    default: "20",
    description: "Minimum number of strikes within one minute that leads to a ban.",
    read: readCount,
  }),
  banStrikesDivisor: setting({
    flag: "ban-strikes-divisor",
    variable: "PETSTORE_BAN_STRIKES_DIVISOR",
    placeholder: "N",
    default: "10",
    description: "Strikes to ban: max(minimum, per-minute limit ÷ this).",
    read: readCount,
  }),
  banMs: setting({
    flag: "ban-minutes",
    variable: "PETSTORE_BAN_MINUTES",
    placeholder: "N",
    default: "5",
    description: "Length of the first ban. Each further ban within 24 hours is twice as long.",
    read: readMinutes,
  }),
  banMsMax: setting({
    flag: "ban-minutes-max",
    variable: "PETSTORE_BAN_MINUTES_MAX",
    placeholder: "N",
    default: "60",
    description: "Maximum length of a ban.",
    read: readMinutes,
  }),
  writesWaitingMax: setting({
    flag: "writes-waiting-max",
    variable: "PETSTORE_WRITES_WAITING_MAX",
    placeholder: "N",
    default: "10000",
    description: "Changes that may wait for a transaction. Further updates get 503. At least 1000.",
    read: readChangesWaiting,
  }),
  writesPerGroupMax: setting({
    flag: "writes-per-group-max",
    variable: "PETSTORE_WRITES_PER_GROUP_MAX",
    placeholder: "N",
    default: "1024",
    description:
      "Maximum number of changes in one transaction. A larger batch gets its own transaction.",
    read: readCount,
  }),
  idempotencyKeptMs: setting({
    flag: "idempotency-days",
    variable: "PETSTORE_IDEMPOTENCY_DAYS",
    placeholder: "N",
    default: "7",
    description: "How long the results of requests with an `Idempotency-Key` are kept.",
    read: readDays,
  }),
  streamsPerKeyMax: setting({
    flag: "streams-per-key",
    variable: "PETSTORE_STREAMS_PER_KEY",
    placeholder: "N",
    default: "10",
    description: "Open streams of the feed per API key and instance. Further ones get 429.",
    read: readCount,
  }),
  databasePatienceMs: setting({
    flag: "database-patience-seconds",
    variable: "PETSTORE_DATABASE_PATIENCE_SECONDS",
    placeholder: "N",
    default: "30",
    description: "How long a start waits for an unreachable PostgreSQL server.",
    read: readSeconds,
  }),
  idleTimeoutSeconds: setting({
    flag: "idle-timeout-seconds",
    variable: "PETSTORE_IDLE_TIMEOUT_SECONDS",
    placeholder: "N",
    default: "10",
    description: "Idle time after which a client connection is closed.",
    read: readIdleTimeout,
  }),
  drainMs: setting({
    flag: "drain-seconds",
    variable: "PETSTORE_DRAIN_SECONDS",
    placeholder: "N",
    default: "0",
    description:
      "How long a stopping service keeps accepting requests while `/readyz` returns 503.",
    read: readDrain,
  }),
  webhooksAllowInsecure: setting({
    flag: "webhooks-allow-insecure",
    variable: "PETSTORE_WEBHOOKS_ALLOW_INSECURE",
    default: "off",
    description: "Allows `http://` addresses for webhooks. The variable is `on` or `off`.",
    read: readSwitch,
  }),
  webhooksAllowedNetworks: setting({
    flag: "webhooks-allowed-networks",
    variable: "PETSTORE_WEBHOOKS_ALLOWED_NETWORKS",
    placeholder: "NETWORKS",
    default: "",
    description:
      "Private addresses or networks that webhooks may use, separated by commas. Public ones are always allowed.",
    read: readNetworks,
  }),
} as const;

export type SettingName = keyof typeof settings;

/** The values of all settings, by name. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]["read"]>;
};

/** Infers the type of a setting's value. */
function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}
