import { checkApiKey } from "./api-key.js";
import type { Backoff } from "./backoff.js";
import { readBaseUrl } from "./base-url.js";
import { type Clock, systemClock } from "./clock.js";
import { defaultHeaders } from "./headers.js";
import type { Hooks } from "./hooks.js";
import type { ApiKey, Budget, ClientOptions, Fetch } from "./options.js";

/** The checked options of a client, with all defaults. */
export interface Settings extends ResolvedBudget {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly headers: Headers;
  readonly hooks: Hooks;
  readonly parallelMax: number;
  readonly backoff: Backoff;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export interface ResolvedBudget {
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly retryForMs: number;
}

const defaultBudget: ResolvedBudget = { timeoutMs: 30_000, attemptsMax: 5, retryForMs: 300_000 };

export function resolveSettings(options: ClientOptions): Settings {
  checkNames(options);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: typeof options.apiKey === "function" ? options.apiKey : checkApiKey(options.apiKey),
    headers: defaultHeaders(options.headers),
    hooks: checkHooks(options.hooks ?? {}),
    ...resolveBudget(options, defaultBudget),
    parallelMax: atLeast(1, "parallelMax", options.parallelMax ?? 16),
    backoff: {
      baseMs: atLeast(0, "backoffBaseMs", options.backoffBaseMs ?? 250),
      capMs: atLeast(0, "backoffCapMs", options.backoffCapMs ?? 20_000),
      random: options.random ?? Math.random,
    },
    // Looked up per call and called as a method, because browsers reject a detached fetch.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
  };
}

export function resolveBudget(budget: Budget, fallback: ResolvedBudget): ResolvedBudget {
  return {
    timeoutMs: atLeast(1, "timeoutMs", budget.timeoutMs ?? fallback.timeoutMs),
    attemptsMax: atLeast(1, "attemptsMax", budget.attemptsMax ?? fallback.attemptsMax),
    retryForMs: atLeast(0, "retryForMs", budget.retryForMs ?? fallback.retryForMs),
  };
}

/** The names of all options. A missing or misspelled name does not compile. */
const optionNames: Readonly<Record<keyof ClientOptions, true>> = {
  baseUrl: true,
  apiKey: true,
  headers: true,
  hooks: true,
  timeoutMs: true,
  attemptsMax: true,
  retryForMs: true,
  parallelMax: true,
  backoffBaseMs: true,
  backoffCapMs: true,
  fetch: true,
  clock: true,
  random: true,
};

const hookNames: Readonly<Record<keyof Hooks, true>> = {
  onRequest: true,
  onResponse: true,
  onRetry: true,
  onDeprecation: true,
};

/** Rejects unknown names. Otherwise `baseURL` would look like a missing `baseUrl`. */
function checkNames(options: unknown): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      'Options are missing. Use new PetstoreClient({ baseUrl: "…/v1", apiKey: "…" })',
    );
  }
  rejectUnknown("option", Object.keys(options), Object.keys(optionNames));
}

function checkHooks(hooks: Hooks): Hooks {
  rejectUnknown("hook", Object.keys(hooks), Object.keys(hookNames));
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined && typeof hook !== "function") {
      throw new TypeError(`hooks.${name} must be a function`);
    }
  }
  return hooks;
}

function rejectUnknown(kind: string, given: readonly string[], known: readonly string[]): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const similar = known.find((one) => one.toLowerCase() === name.toLowerCase());
    const hint =
      similar === undefined ? `Valid names are ${known.join(", ")}` : `Did you mean ${similar}?`;
    throw new TypeError(`Unknown ${kind} "${name}". ${hint}`);
  }
}

export function atLeast(min: number, name: string, value: number): number {
  if (typeof value === "number" && value >= min) return value;
  throw new RangeError(`${name} must be a number of at least ${min}, not ${value}`);
}
