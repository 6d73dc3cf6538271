/** What a program finds out by calling the service through code generated from its description. */
export interface Journey {
  /** The list as the generated client parsed it. */
  readonly listed: readonly { petId: number; quantity: number; status: string }[];
  readonly updated: { petId: number; quantity: number; status: string };
  readonly refused: { code: string; message: string; status: number };
  /** The answer to an update of the pet with the largest id, as text. */
  readonly wide: string;
  readonly ordered: readonly { id: number; quantity: number; shipDate: string | null }[];
}

/** Beyond 2^31: what a generator reads into 32 bits it cannot hold. */
export const largeQuantity = 6_000_000_000;
export const wideId = 9223372036854775807n;
export const unknownId = 404;

/** True only where two types are the same: `any` and `unknown` equal nothing but themselves. */
export type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
