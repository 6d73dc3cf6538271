import type { DeprecationNotice, Hooks } from "./hooks.js";
import type { Operation } from "./types.js";

/** Reports each deprecated operation once: to the hook if there is one, or else on the console. */
export class DeprecationWarnings {
  readonly #warn: (notice: DeprecationNotice) => void;
  readonly #reported = new Set<Operation>();

  constructor(hooks: Hooks) {
    this.#warn = hooks.onDeprecation ?? (({ message }) => console.warn(message));
  }

  check(operation: Operation, headers: Headers): void {
    const deprecation = headers.get("deprecation");
    if (deprecation === null || this.#reported.has(operation)) return;
    this.#reported.add(operation);
    this.#warn(readNotice(operation, deprecation, headers.get("sunset")));
  }
}

function readNotice(
  operation: Operation,
  deprecationField: string,
  sunsetField: string | null,
): DeprecationNotice {
  // RFC 9745: a structured-field date, such as @1767225600. RFC 8594: an HTTP date.
  const since = validDate(Number(/^@(-?\d+)$/.exec(deprecationField)?.[1]) * 1000);
  const sunset = validDate(Date.parse(sunsetField ?? ""));
  const sinceText = since === undefined ? "" : ` as of ${dayOf(since)}`;
  const sunsetText = sunset === undefined ? "" : ` and stops working on ${dayOf(sunset)}`;
  const message = `petstore-inventory-client: ${operation} is deprecated${sinceText}${sunsetText}`;
  return { operation, since, sunset, message };
}

function validDate(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
