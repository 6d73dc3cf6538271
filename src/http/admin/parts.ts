import type { Environment } from "../../domain/keys.ts";
import type { Usage } from "../../domain/limits.ts";

/**
 * What only operations of the operator API use. Made in src/compose/admin.ts, and part of the Context
 * as `admin`.
 */
export interface AdminParts {
  readonly facts: ServiceFacts;
  /** The same as `/readyz`. */
  isReady(): Promise<boolean>;
  /** What the rate limiter of this process knows of a key. It can be newer than what is stored. */
  findUsage(keyId: string): Readonly<Usage> | undefined;
}

/** What does not change while the service runs. */
export interface ServiceFacts {
  readonly version: string;
  readonly environment: Environment;
  readonly engine: "SQLite" | "PostgreSQL";
  /** The version of the store's schema. */
  readonly schema: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}
