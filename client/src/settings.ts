import type { Backoff } from "./backoff.js";
import { readBaseUrl } from "./base-url.js";
import { type Clock, systemClock } from "./clock.js";
import { defaultHeaders } from "./headers.js";
import type { Hooks } from "./hooks.js";
import { checkApiKey } from "./key.js";
import type { ApiKey, Budget, ClientOptions, Fetch } from "./options.js";

/** The options of a client, checked, with every default filled in. */
export interface Settings extends SettledBudget {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly headers: Headers;
  readonly hooks: Hooks;
  readonly parallelMax: number;
  readonly backoff: Backoff;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export interface SettledBudget {
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly retryForMs: number;
}

const defaultBudget: SettledBudget = { timeoutMs: 30_000, attemptsMax: 5, retryForMs: 300_000 };

export function settle(options: ClientOptions): Settings {
  checkNames(options);
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    apiKey: typeof options.apiKey === "function" ? options.apiKey : checkApiKey(options.apiKey),
    headers: defaultHeaders(options.headers),
    hooks: checkHooks(options.hooks ?? {}),
    ...settleBudget(options, defaultBudget),
    parallelMax: atLeast(1, "parallelMax", options.parallelMax ?? 16),
    backoff: {
      baseMs: atLeast(0, "backoffBaseMs", options.backoffBaseMs ?? 250),
      capMs: atLeast(0, "backoffCapMs", options.backoffCapMs ?? 20_000),
      random: options.random ?? Math.random,
    },
    // Looked up at each call and called as a method: browsers refuse a detached fetch.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
  };
}

export function settleBudget(budget: Budget, fallback: SettledBudget): SettledBudget {
  return {
    timeoutMs: atLeast(1, "timeoutMs", budget.timeoutMs ?? fallback.timeoutMs),
    attemptsMax: atLeast(1, "attemptsMax", budget.attemptsMax ?? fallback.attemptsMax),
    retryForMs: atLeast(0, "retryForMs", budget.retryForMs ?? fallback.retryForMs),
  };
}

/** Every option there is. The type makes a forgotten or a misspelt one a compile error. */
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

// A misspelt name would otherwise be ignored, and `baseURL` would look like a missing `baseUrl`.
function checkNames(options: unknown): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('Pass the options: new PetstoreClient({ baseUrl: "…/v1", apiKey: "…" })');
  }
  refuseUnknown("option", Object.keys(options), Object.keys(optionNames));
}

function checkHooks(hooks: Hooks): Hooks {
  refuseUnknown("hook", Object.keys(hooks), Object.keys(hookNames));
  for (const [name, hook] of Object.entries(hooks)) {
    if (hook !== undefined && typeof hook !== "function") {
      throw new TypeError(`hooks.${name} must be a function`);
    }
  }
  return hooks;
}

function refuseUnknown(kind: string, given: readonly string[], known: readonly string[]): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => one.toLowerCase() === name.toLowerCase());
    const hint = meant === undefined ? `The names are ${known.join(", ")}` : `Pass ${meant}`;
    throw new TypeError(`There is no ${kind} "${name}". ${hint}`);
  }
}

function atLeast(min: number, name: string, value: number): number {
  if (typeof value === "number" && value >= min) return value;
  throw new RangeError(`${name} must be a number of at least ${min}, not ${value}`);
}
