import type { DeprecationNotice, Hooks, Operation } from "./hooks.js";

/** Tells once for each operation that it is deprecated: to the hook, or else on the console. */
export class DeprecationWarnings {
  readonly #warn: (notice: DeprecationNotice) => void;
  readonly #told = new Set<Operation>();

  constructor(hooks: Hooks) {
    this.#warn = hooks.onDeprecation ?? (({ message }) => console.warn(message));
  }

  note(operation: Operation, headers: Headers): void {
    const field = headers.get("deprecation");
    if (field === null || this.#told.has(operation)) return;
    this.#told.add(operation);
    this.#warn(readNotice(operation, field, headers.get("sunset")));
  }
}

function readNotice(
  operation: Operation,
  deprecation: string,
  sunsetField: string | null,
): DeprecationNotice {
  // RFC 9745: a structured date, such as @1767225600. RFC 8594: an HTTP date.
  const since = dateOrNone(Number(/^@(-?\d+)$/.exec(deprecation)?.[1]) * 1000);
  const sunset = dateOrNone(Date.parse(sunsetField ?? ""));
  const sinceText = since === undefined ? "" : ` since ${dayOf(since)}`;
  const sunsetText = sunset === undefined ? "" : ` and stops working on ${dayOf(sunset)}`;
  const message = `petstore-inventory-client: ${operation} is deprecated${sinceText}${sunsetText}`;
  return { operation, since, sunset, message };
}

function dateOrNone(ms: number): Date | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
