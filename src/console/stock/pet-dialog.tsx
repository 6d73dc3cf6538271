import { request } from "../client/api.ts";
import type { PetDetails } from "../client/types.ts";
import { navigate, place } from "../page/router.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { PetForm } from "./pet-form.tsx";
import { closePetDialog } from "./state.ts";

/** Adds a pet, or shows and changes the details of one. */
export function PetDialog({ petId }: { readonly petId: string | undefined }) {
  if (petId !== undefined) return <KnownPet key={petId} petId={petId} />;
  return (
    <Dialog title="Add a pet" close={close}>
      <PetForm pet={undefined} close={close} />
    </Dialog>
  );
}

function KnownPet({ petId }: { readonly petId: string }) {
  const source = useLoaded((signal) => request<PetDetails>(`/pets/${petId}`, { signal }), [petId]);
  const state = source.state.value;
  return (
    <Dialog title={state.kind === "ready" ? state.value.name : `Pet ${petId}`} close={close}>
      <WhenLoaded source={source}>{(pet) => <PetForm pet={pet} close={close} />}</WhenLoaded>
    </Dialog>
  );
}

function close(): void {
  closePetDialog();
  if (/^\/stock\/-?\d+$/.test(place.value.path)) navigate("/stock", { replace: true });
}
