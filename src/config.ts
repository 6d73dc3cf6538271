import { parseArgs } from "node:util";
import { Refusal } from "./domain/errors.ts";
import type { Environment } from "./domain/keys.ts";
import { type BanRules, dayMs, minuteMs } from "./domain/limits.ts";
import { type Setting, settings } from "./settings.ts";

/**
 * What was set, and the bounds that cannot be, in one frozen value. Units and bounds stand at the
 * end of names.
 */
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
  readonly updateAnswerMsMax: number;
  /** How long a start waits for a database that cannot be reached yet. */
  readonly databasePatienceMs: number;
  readonly keysRememberedMax: number;
  /** Entries whose bytes are written anew together when one of them changes. */
  readonly listChunkEntries: number;
  /** Bytes of older lists that slow readers may keep in memory. */
  readonly listHeldBytesMax: number;
  /** How long the listener stays open after a stop was asked for, with /readyz already 503. */
  readonly drainMs: number;
  /** How long requests in flight may take to finish once the listener is closed. */
  readonly stopGraceMs: number;
}

const settingOptions = Object.fromEntries(
  Object.values(settings).map((one) => [one.flag, { type: "string" as const }]),
);

type Values = Record<string, unknown>;

/**
 * Reads the settings: the flag wins over the environment, the environment over the default. A
 * command with two databases says which flag names this one.
 */
export function readConfig(
  flags: Values,
  variables: NodeJS.ProcessEnv = process.env,
  databaseFlag: string = settings.databaseUrl.flag,
): Config {
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
      const value = one.isSecret ? "" : `, not '${text}'`;
      throw new Refusal("invalid_request", `${source} ${(error as Error).message}${value}`);
    }
  };
  const env = value(settings.environment);
  return Object.freeze({
    port: value(settings.port),
    host: value(settings.host),
    environment: env,
    databaseUrl:
      value({ ...settings.databaseUrl, flag: databaseFlag }) || `sqlite:./data/${env}.db`,
    petsSunsetAt: value(settings.petsSunsetAt),
    corsOrigins: value(settings.corsOrigins),
    trustedProxies: value(settings.trustedProxies),
    addressPerMinute: value(settings.addressPerMinute),
    addressesMax: value(settings.addressesMax),
    ban: Object.freeze({
      graceMs: value(settings.banGraceMs),
      strikesMin: value(settings.banStrikesMin),
      strikesDivisor: value(settings.banStrikesDivisor),
      banMs: value(settings.banMinutes) * minuteMs,
      banMsMax: value(settings.banMinutesMax) * minuteMs,
      ladderMs: dayMs,
    }),
    bodyBytesMax: 64 * 1024,
    bodyBytesBackstop: 1024 * 1024,
    idleTimeoutSeconds: value(settings.idleTimeoutSeconds),
    writesPerGroupMax: value(settings.writesPerGroupMax),
    writesWaitingMax: value(settings.writesWaitingMax),
    updateAnswerMsMax: 9_000,
    databasePatienceMs: value(settings.databasePatienceSeconds) * 1_000,
    keysRememberedMax: 10_000,
    listChunkEntries: 4_096,
    listHeldBytesMax: 128 * 1024 * 1024,
    drainMs: value(settings.drainSeconds) * 1_000,
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
