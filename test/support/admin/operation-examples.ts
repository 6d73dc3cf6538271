import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { Example } from "../operation-examples.ts";
import type { TestService } from "../service.ts";

/**
 * Requests to one operation of the operator API. test/admin/operations.test.ts sends them to a service
 * with the pets 1 and 2.
 */
export interface AdminExamples {
  /** Succeeds with 2xx, and more than once. */
  readonly good: Example;
  /** Fail with these codes. */
  readonly bad: readonly (Example & { readonly code: ErrorCode })[];
  /**
   * Called before each request. Makes what the request needs, such as a new key. In path and body,
   * `{name}` is then replaced by the value with this name.
   */
  readonly prepare?: (service: TestService) => Promise<Readonly<Record<string, string>>>;
}

/** By operation id. */
export const operationExamples: Readonly<Record<string, AdminExamples>> = {
  startSession: { good: { path: "/session" }, bad: [] },
  getSession: { good: { path: "/session" }, bad: [] },
  endSession: { good: { path: "/session" }, bad: [] },
};
