import { readChangesWaiting, readCount, readDays, readMebibytes, readMinutes } from "./readers.ts";
import { setting } from "./setting.ts";

/** Rate limits, bans, and bounds of writes and streams. */
export const limitsSettings = {
  addressPerMinute: setting({
    flag: "address-per-minute",
    placeholder: "N",
    default: "300",
    description: "Requests per minute without a valid key, per client address.",
    unit: "requests",
    read: readCount,
  }),
  addressesMax: setting({
    flag: "addresses-max",
    placeholder: "N",
    default: "100000",
    description: "Client addresses counted separately. Further addresses share one count.",
    unit: "addresses",
    read: readCount,
  }),
  signInPerMinute: setting({
    flag: "sign-in-per-minute",
    placeholder: "N",
    default: "30",
    description:
      "Requests per minute to the operator API without a valid key or session, per client address.",
    unit: "requests",
    read: readCount,
  }),
  banGraceMs: setting({
    flag: "ban-grace-ms",
    placeholder: "N",
    default: "1000",
    description: "Time after the first 429 of a window during which further 429s are not strikes.",
    unit: "milliseconds",
    read: readCount,
  }),
  banStrikesMin: setting({
    flag: "ban-strikes-min",
    placeholder: "N",
    default: "20",
    description: "Fewest strikes within one minute that lead to a ban.",
    unit: "strikes",
    read: readCount,
  }),
  banStrikesDivisor: setting({
    flag: "ban-strikes-divisor",
    placeholder: "N",
    default: "10",
    description:
      "A key is banned after max(minimum, per-minute limit ÷ this) strikes within one minute.",
    read: readCount,
  }),
  banMs: setting({
    flag: "ban-minutes",
    placeholder: "N",
    default: "5",
    description: "Length of the first ban. Each further ban within 24 hours is twice as long.",
    unit: "minutes",
    read: readMinutes,
  }),
  banMsMax: setting({
    flag: "ban-minutes-max",
    placeholder: "N",
    default: "60",
    description: "Maximum length of a ban.",
    unit: "minutes",
    read: readMinutes,
  }),
  writesWaitingMax: setting({
    flag: "writes-waiting-max",
    placeholder: "N",
    default: "10000",
    description:
      "Changes that may wait for a transaction. Further updates get 503. One key may have about half of them, and fewer while other keys wait. At least 1000.",
    unit: "changes",
    read: readChangesWaiting,
  }),
  writesPerGroupMax: setting({
    flag: "writes-per-group-max",
    placeholder: "N",
    default: "1024",
    description:
      "Maximum number of changes in one transaction. A larger batch gets its own transaction.",
    unit: "changes",
    read: readCount,
  }),
  idempotencyKeptMs: setting({
    flag: "idempotency-days",
    placeholder: "N",
    default: "7",
    description: "How long the results of requests with an `Idempotency-Key` are kept.",
    unit: "days",
    read: readDays,
  }),
  importBytesMax: setting({
    flag: "import-mib-max",
    placeholder: "N",
    default: "64",
    description: "Largest file that operators can import with the console or the operator API.",
    unit: "MiB",
    read: readMebibytes,
  }),
  streamsPerKeyMax: setting({
    flag: "streams-per-key",
    placeholder: "N",
    default: "10",
    description:
      "Open streams of the feed per API key and instance. Further ones get 429. An operator key can have 200.",
    unit: "streams",
    read: readCount,
  }),
} as const;
