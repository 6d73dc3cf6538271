import { useComputed } from "@preact/signals";
import { findPetName } from "../client/pet-names.ts";
import { hrefOf } from "../page/router.ts";

/** The name and the id of a pet, with a link to its history. */
export function PetName({ petId }: { readonly petId: string }) {
  const name = useComputed(() => findPetName(petId));
  return (
    <a class="pet-name" href={hrefOf(`/history/${petId}`)} title={name.value}>
      <bdi class="pet-name-text">{name.value ?? "Pet"}</bdi> <span class="muted mono">{petId}</span>
    </a>
  );
}

/** A name in a sentence. A name in a right-to-left script does not change the direction of the sentence. */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi>
      <strong>{children}</strong>
    </bdi>
  );
}
