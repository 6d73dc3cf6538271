import { useComputed } from "@preact/signals";
import { hrefOf } from "../router.ts";
import { loadState, revision, table } from "../stock/state.ts";

/** The name of a pet, or undefined if it was removed or the stock is not loaded yet. */
export function findPetName(petId: string): string | undefined {
  void revision.value;
  void loadState.value;
  const row = table.value.findRow(petId);
  return row === undefined ? undefined : table.value.names[row];
}

/** The name and the id of a pet, with a link to its history. */
export function PetName({ petId }: { readonly petId: string }) {
  const name = useComputed(() => findPetName(petId));
  return (
    <a class="pet-name" href={hrefOf(`/history/${petId}`)} title={name.value}>
      <bdi class="pet-name-text">{name.value ?? "Pet"}</bdi> <span class="muted mono">{petId}</span>
    </a>
  );
}
