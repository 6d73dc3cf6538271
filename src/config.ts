import { type Flags, readSettings, type Variables } from "./config/reading.ts";
import type { BanRules } from "./domain/limits/limits.ts";
import type { ObjectAccess } from "./domain/operations/backups.ts";
import { invalidRequest } from "./domain/running/errors.ts";
import { dayMs } from "./domain/values/times.ts";
import { printWarning } from "./output.ts";
import { type SettingValues, settings } from "./settings.ts";

/** Bounds that no flag or variable changes. */
const fixedBounds = {
  bodyBytesMax: 64 * 1024,
  /** The body of a batch of changes. */
  changesBytesMax: 256 * 1024,
  /** The limit of the HTTP parser, which responds with 413 and without an Error body. */
  bodyBytesBackstop: 1024 * 1024,
  updateTimeoutMs: 9_000,
  keysCachedMax: 10_000,
  /** Entries per chunk of the list. A change to one entry rewrites the bytes of its chunk. */
  listChunkEntries: 4_096,
  /** Memory for old lists that slow clients are still reading. */
  listHeldBytesMax: 128 * 1024 * 1024,
  /** The least number of ledger rows between two checkpoints. */
  checkpointRowsMin: 50_000,
  snapshots: {
    /** Each takes most of a second of CPU time if the inventory has a million entries. */
    preparedMax: 2,
    waitingMax: 16,
    /** Each keeps the changes since a checkpoint in memory until it is sent. */
    sentMax: 8,
    /** Before the server closes a connection on which nothing was sent. */
    timeoutMs: 8_000,
  },
  /** Streams of one operator key on one instance. Every open page of the console has one. */
  streamsPerOperatorMax: 200,
  feed: {
    /** All streams of the feed on one instance. */
    streamsMax: 10_000,
    /** The longest time without an event. Shorter if connections are closed sooner when idle. */
    heartbeatMsMax: 13_000,
    /** A client that does not take what was sent within this time is cut off. */
    stallMs: 10_000,
  },
  webhooks: {
    /** For a whole attempt, from name resolution to the response. */
    timeoutMs: 15_000,
    /** How long an instance that has died keeps its webhooks. */
    leaseMs: 30_000,
    /** An attempt starts only while this much of the lease is left. */
    leaseLeftMinMs: 20_000,
    /** How often leases are renewed and operators' changes are read, on PostgreSQL and on SQLite. */
    renewEveryMs: 5_000,
    renewLocallyEveryMs: 1_000,
  },
  /** Without a failure for this long, the log says that requests have stopped failing. */
  failuresQuietMs: 10_000,
  /** How often metrics read the store: whether it responds, webhooks, backups, sizes of files. */
  metricsReadEveryMs: 5_000,
  /** How often the continuous copy is checked. A check may take two thirds of it. */
  replicaCheckEveryMs: 30_000,
  traces: {
    /** Spans that wait to be sent. Further ones are dropped. */
    queueMax: 4_096,
    batchMax: 512,
    delayMs: 2_000,
    timeoutMs: 10_000,
    retryMsMax: 60_000,
    /** How long a stop waits for the collector. */
    stopMs: 900,
  },
  /** How often the files of the certificate are read. */
  certificateCheckMs: 1_000,
  /** How long requests in flight may take once the listener is closed. */
  stopGraceMs: 10_000,
  /** A ban that starts within this time after the last one is twice as long. */
  banEscalationMs: dayMs,
};

/** The settings and the fixed bounds. The settings for bans are grouped as the rate limiter takes them. */
export type Config = Readonly<
  Omit<SettingValues & typeof fixedBounds, `ban${string}`> & {
    ban: BanRules;
    objectAccess: ObjectAccess;
    /** The settings that were given as flags, as they were written. */
    given: Flags;
  }
>;

/** What was printed. A command with two databases reads the settings twice. */
const warned = new Set<string>();

/**
 * Reads the settings. A flag overrides its variable, a variable overrides the settings file, and the
 * file overrides the default. An empty variable counts as unset. A command with two databases names
 * the flag of the one to read.
 */
export function readConfig(
  flags: Flags,
  variables: Variables = process.env,
  databaseFlag: string = settings.databaseUrl.flag,
): Config {
  const { values, problems, warnings } = readSettings(flags, variables, databaseFlag);
  const [first, ...others] = problems;
  if (first !== undefined) {
    const more = others.length > 0 ? ` (${others.length} more: see petstore config)` : "";
    throw invalidRequest(first + more);
  }
  for (const warning of warnings) if (!warned.has(warning)) printWarning(warning);
  for (const warning of warnings) warned.add(warning);
  return toConfig(values, variables, flags);
}

/** Secrets of a command that is a client of a service. Not flags, because other users can read those. */
export function readClientVariables({ API_KEY, WEBHOOK_SECRET }: Variables = process.env) {
  return { apiKey: API_KEY, secret: WEBHOOK_SECRET };
}

/**
 * How buckets are reached, by the variables that other programs use too. Not flags, because other users can
 * read those. A name with S3 overrides one with AWS, as in Bun.
 */
function readObjectAccess(variables: Variables): ObjectAccess {
  const first = (...all: string[]) => all.map((one) => variables[one]?.trim()).find(Boolean) ?? "";
  const region = first("S3_REGION", "AWS_REGION", "AWS_DEFAULT_REGION") || "us-east-1";
  const endpoint = first("S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT");
  return Object.freeze({
    endpoint: endpoint || `https://{bucket}.s3.${region}.amazonaws.com`,
    region,
    accessKeyId: first("S3_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID"),
    secretAccessKey: first("S3_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"),
    sessionToken: first("S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"),
  });
}

/**
 * Reads the settings like `readConfig`, with their origins and everything that is wrong, for commands that
 * show what was read. If something is wrong, there is no `config`.
 */
export function explainConfig(flags: Flags, variables: Variables = process.env) {
  const read = readSettings(flags, variables, settings.databaseUrl.flag);
  const config = read.problems.length > 0 ? undefined : toConfig(read.values, variables, flags);
  return { ...read, config };
}

function toConfig(values: SettingValues, variables: Variables, given: Flags): Config {
  const { banGraceMs, banStrikesMin, banStrikesDivisor, banMs, banMsMax, ...others } = values;
  const { banEscalationMs, ...bounds } = fixedBounds;
  return Object.freeze({
    ...others,
    ...bounds,
    given,
    databaseUrl: (others.databaseUrl || settings.databaseUrl.default).replace(
      "<env>",
      others.environment,
    ),
    objectAccess: readObjectAccess(variables),
    ban: Object.freeze({
      graceMs: banGraceMs,
      strikesMin: banStrikesMin,
      strikesDivisor: banStrikesDivisor,
      banMs,
      banMsMax,
      escalationMs: banEscalationMs,
    }),
  });
}

/**
 * The environment of a process that works on the same store. The address of the database is not an
 * argument, because other users can read those.
 */
export function childVariables(
  { environment, databaseUrl, backupKeyFile }: Config,
  variables: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const own = {
    [settings.environment.variable]: environment,
    [settings.databaseUrl.variable]: databaseUrl,
    [settings.backupKeyFile.variable]: backupKeyFile,
  };
  return { ...variables, ...own };
}
