import { dayMs, minuteMs } from "../domain/values/times.ts";
import { readChangesWaiting, readCountOf, readMebibytes } from "./readers.ts";
import { count } from "./setting.ts";

/** Rate limits, bans, and bounds of writes and streams. */
export const limitsSettings = {
  addressPerMinute: count({
    flag: "address-per-minute",
    default: "300",
    description: "Requests per minute without a valid key, per client address.",
    unit: "requests",
  }),
  addressesMax: count({
    flag: "addresses-max",
    default: "100000",
    description: "Client addresses counted separately. Further addresses share one count.",
    unit: "addresses",
  }),
  signInPerMinute: count({
    flag: "sign-in-per-minute",
    default: "30",
    description:
      "Requests per minute to the operator API without a valid key or session, per client address.",
    unit: "requests",
  }),
  banGraceMs: count({
    flag: "ban-grace-ms",
    default: "1000",
    description: "Time after the first 429 of a window during which further 429s are not strikes.",
    unit: "milliseconds",
  }),
  banStrikesMin: count({
    flag: "ban-strikes-min",
    default: "20",
    description: "Fewest strikes within one minute that lead to a ban.",
    unit: "strikes",
  }),
  banStrikesDivisor: count({
    flag: "ban-strikes-divisor",
    default: "10",
    description:
      "A key is banned after max(minimum, per-minute limit ÷ this) strikes within one minute.",
  }),
  banMs: count({
    flag: "ban-minutes",
    default: "5",
    description: "Length of the first ban. Each further ban within 24 hours is twice as long.",
    unit: "minutes",
    read: readCountOf(minuteMs),
  }),
  banMsMax: count({
    flag: "ban-minutes-max",
    default: "60",
    description: "Maximum length of a ban.",
    unit: "minutes",
    read: readCountOf(minuteMs),
  }),
  writesWaitingMax: count({
    flag: "writes-waiting-max",
    default: "10000",
    description:
      "Changes that may wait for a transaction. Further updates get 503. One key may have about half of them, and fewer while other keys wait. At least 1000.",
    unit: "changes",
    read: readChangesWaiting,
  }),
  writesPerGroupMax: count({
    flag: "writes-per-group-max",
    default: "1024",
    description:
      "Maximum number of changes in one transaction. A larger batch gets its own transaction.",
    unit: "changes",
  }),
  idempotencyKeptMs: count({
    flag: "idempotency-days",
    default: "7",
    description: "How long the results of requests with an `Idempotency-Key` are kept.",
    unit: "days",
    read: readCountOf(dayMs),
  }),
  importBytesMax: count({
    flag: "import-mib-max",
    default: "64",
    description: "Largest file that operators can import with the console or the operator API.",
    unit: "MiB",
    read: readMebibytes,
  }),
  streamsPerKeyMax: count({
    flag: "streams-per-key",
    default: "10",
    description:
      "Open streams of the feed per API key and instance. Further ones get 429. An operator key can have 200.",
    unit: "streams",
  }),
} as const;
