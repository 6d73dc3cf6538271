/** What a program receives from the service through a generated client. */
export interface CallResults {
  /** The list as the generated client parsed it. */
  readonly listed: readonly { petId: number; quantity: number; status: string }[];
  readonly updated: { petId: number; quantity: number; status: string };
  readonly refused: { code: string; message: string; status: number };
  /** The response to an update of the pet with the largest id, as text. */
  readonly wide: string;
  /** A batch that was sent twice with the same idempotency key: its two responses. */
  readonly applied: readonly { entries: readonly { petId: number; quantity: number }[] }[];
  /** The first change of a pet: `before` is null. */
  readonly created: { before: { quantity: number } | null; after: { quantity: number } | null };
  readonly ordered: readonly { id: number; quantity: number; shipDate: string | null }[];
}

/** Larger than 2^31, so that it does not fit if a generator uses 32 bits. */
export const largeQuantity = 6_000_000_000;
export const wideId = 9223372036854775807n;
export const unknownId = 404;

/** True only if two types are identical. `any` and `unknown` are identical only to themselves. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
