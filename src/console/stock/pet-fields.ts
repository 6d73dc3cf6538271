import { request, ShownError } from "../client/api.ts";
import { lookForRenames } from "../client/renames.ts";
import type { PetDetails } from "../client/types.ts";
import { parseQuantity, quantityRule } from "./quantities.ts";
import { table, touched, updateOrder } from "./state.ts";

type Details = Pick<PetDetails, "name" | "category" | "tags" | "photoUrls">;

export interface PetFields {
  readonly details: Details;
  /** The fields that only a new pet has. */
  readonly created: Readonly<Record<string, unknown>>;
}

/** The details of a pet as the form shows them. */
export function textsOf(pet: PetDetails | undefined): Readonly<Record<keyof Details, string>> {
  return {
    name: pet?.name ?? "",
    category: pet?.category ?? "",
    tags: pet?.tags.join(", ") ?? "",
    photoUrls: pet?.photoUrls.join("\n") ?? "",
  };
}

function readDetails(text: (name: keyof Details) => string): Details {
  const list = (name: keyof Details, separator: RegExp) =>
    text(name)
      .split(separator)
      .map((one) => one.trim())
      .filter((one) => one !== "");
  return {
    name: text("name").trim(),
    category: text("category").trim() || null,
    tags: list("tags", /,/),
    photoUrls: list("photoUrls", /\s+/),
  };
}

/** Reads the form, or throws what is wrong with it. The service checks the rest. */
export function readPet(form: FormData, isNew: boolean): PetFields {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const details = readDetails(text);
  const quantity = parseQuantity(text("quantity"));
  const created = {
    petId: text("petId"),
    quantity,
    status: text("status"),
    ...(text("reason") === "" ? {} : { reason: text("reason") }),
  };
  const hasId = /^(?:0|-?[1-9]\d{0,18})$/.test(created.petId);
  if (isNew && !hasId) throw new ShownError("Enter an id: a whole number.");
  if (details.name === "") throw new ShownError("Enter a name.");
  if (isNew && quantity === undefined) throw new ShownError(quantityRule);
  return { details, created };
}

export async function addPet({ details, created }: PetFields): Promise<PetDetails> {
  const body = { ...created, ...details };
  return show(await request<PetDetails>("/pets", { method: "POST", body }));
}

/**
 * Sends only what the person changed. What another operator changed meanwhile stays, and so does a tag
 * with a comma, which the form would read as two.
 */
export async function changePet(pet: PetDetails, { details }: PetFields): Promise<PetDetails> {
  const texts = textsOf(pet);
  const shown = readDetails((name) => texts[name]);
  const isChanged = (name: keyof Details) =>
    JSON.stringify(details[name]) !== JSON.stringify(shown[name]);
  const names = (Object.keys(shown) as (keyof Details)[]).filter(isChanged);
  const body = Object.fromEntries(names.map((name) => [name, details[name]]));
  const changed = show(await request<PetDetails>(`/pets/${pet.petId}`, { method: "PATCH", body }));
  void lookForRenames();
  return changed;
}

export async function removePet({ petId, version }: PetDetails, reason: string): Promise<void> {
  const query = new URLSearchParams({ expectedVersion: String(version) });
  if (reason !== "") query.set("reason", reason);
  await request(`/pets/${petId}?${query}`, { method: "DELETE" });
}

/** The feed has no names, so the response is shown at once. */
function show(pet: PetDetails): PetDetails {
  table.value.describe(table.value.add(pet), pet);
  touched();
  updateOrder();
  return pet;
}
