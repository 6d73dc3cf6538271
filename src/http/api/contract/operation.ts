import type { DescribedCode } from "./errors.ts";
import type { HeaderId } from "./headers.ts";
import type { Schema } from "./schemas.ts";

/** An example, by name, and one line on what it shows. */
export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly schema: Schema;
  readonly example: unknown;
}

/** A success: the refusals are made from the codes. */
export interface Success {
  readonly description: string;
  readonly headers?: readonly HeaderId[];
  /** Absent where the answer has no body. */
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** What one operation promises, told to someone who has never seen it. */
export interface Contract {
  readonly summary: string;
  readonly description: string;
  readonly tag: "Inventory" | "Pets" | "Orders";
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly description: string;
    readonly schema: Schema;
    readonly examples: Readonly<Record<string, Example>>;
  };
  readonly success: Readonly<Record<number, Success>>;
  /** Codes beyond those that every operation can give. */
  readonly errors: readonly DescribedCode[];
  /** What `invalid_request` says here, by the name of its example. */
  readonly invalid?: Readonly<Record<string, string>>;
  /** Headers on every answer of this operation, refusals included. */
  readonly headers?: readonly HeaderId[];
}

/** Any operation can answer these: they arise before it is reached, or beneath it. */
export const everyOperation: readonly DescribedCode[] = [
  "unauthorized",
  "insufficient_scope",
  "rate_limit_exceeded",
  "key_banned",
  "internal_error",
  "unavailable",
];
