import type { PetStatus } from "./inventory.ts";

/** What the catalogue says of a pet; its stock and status are its inventory entry's. */
export interface Pet {
  readonly petId: bigint;
  readonly name: string;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly photoUrls: readonly string[];
  readonly status: PetStatus;
  readonly quantity: number;
}

/** One row of an import. A field that is undefined was not given and stays as it is. */
export interface PetRecord {
  readonly line: number;
  readonly petId: bigint;
  readonly name: string | undefined;
  readonly category: string | null | undefined;
  readonly tags: readonly string[] | undefined;
  readonly photoUrls: readonly string[] | undefined;
  readonly status: PetStatus | undefined;
  readonly quantity: number | undefined;
}

/** Since when GET /pets/{petId} is deprecated, in milliseconds since 1970. */
export const petsDeprecatedAt = Date.UTC(2026, 0, 1);

/** Said of a petId that names nothing, by whichever operation it was given to. */
export const petNotFound = "No pet with this petId is in the store.";

/** What a new pet has unless the import says otherwise. */
export const newPetStock = { status: "available", quantity: 0 } as const;
