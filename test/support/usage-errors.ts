import { expect } from "bun:test";
import type { Ran } from "./process.ts";

/**
 * Expects exit code 2 and one line on standard error that contains the text, without a stack trace. A
 * service may have logged before it.
 */
export function expectUsageError(ran: Ran, text: string): void {
  expect(ran.err).toContain(text);
  expect(ran.err).toMatch(/^(\{[^\n]+\}\n)*petstore: [^\n]+\n$/);
  expect(ran.err).not.toMatch(/\bat .*:\d+:\d+/);
  expect(ran.out).toBe("");
  expect(ran.code).toBe(2);
}

/** Expects the same of a command whose settings contain two secret words, and that it prints neither. */
export function expectNoSecret(ran: Ran, sentence: string): void {
  expect(ran.out + ran.err).not.toMatch(/hunter|zwei/);
  expect(ran.err).toContain(sentence);
  // A service that waits for the database logs that first.
  expect(ran.err).toMatch(/^(\{[^\n]+\n)?petstore: [^\n]+\n$/);
  expect(ran.code).toBe(2);
}
