import { request } from "../client/api.ts";
import { lookForRenames } from "../client/renames.ts";
import type { Pet } from "../client/types.ts";
import { parseQuantity, quantityRule } from "./quantities.ts";
import { table, touched, updateOrder } from "./state.ts";

type Details = Pick<Pet, "name" | "category" | "tags" | "photoUrls">;

export interface PetFields {
  /** What is wrong with the fields, or an empty text. */
  readonly error: string;
  readonly details: Details;
  /** The fields that only a new pet has. */
  readonly created: Readonly<Record<string, unknown>>;
}

/** The details of a pet as the form shows them. */
export function textsOf(pet: Pet | undefined): Readonly<Record<keyof Details, string>> {
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

/** Reads the form. The service checks the rest. */
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
  if (isNew && !hasId) return { error: "Enter an id: a whole number.", details, created };
  if (details.name === "") return { error: "Enter a name.", details, created };
  if (isNew && quantity === undefined) return { error: quantityRule, details, created };
  return { error: "", details, created };
}

export async function addPet({ details, created }: PetFields): Promise<Pet> {
  const body = { ...created, ...details };
  return show(await request<Pet>("/pets", { method: "POST", body }));
}

/**
 * Sends only what the person changed. What another operator changed meanwhile stays, and so does a tag
 * with a comma, which the form would read as two.
 */
export async function changePet(pet: Pet, { details }: PetFields): Promise<Pet> {
  const texts = textsOf(pet);
  const shown = readDetails((name) => texts[name]);
  const isChanged = (name: keyof Details) =>
    JSON.stringify(details[name]) !== JSON.stringify(shown[name]);
  const names = (Object.keys(shown) as (keyof Details)[]).filter(isChanged);
  const body = Object.fromEntries(names.map((name) => [name, details[name]]));
  const changed = show(await request<Pet>(`/pets/${pet.petId}`, { method: "PATCH", body }));
  void lookForRenames();
  return changed;
}

export async function removePet({ petId, version }: Pet, reason: string): Promise<void> {
  const query = new URLSearchParams({ expectedVersion: String(version) });
  if (reason !== "") query.set("reason", reason);
  await request(`/pets/${petId}?${query}`, { method: "DELETE" });
}

/** The feed has no names, so the response is shown at once. */
function show(pet: Pet): Pet {
  table.value.describe(table.value.add(pet), pet);
  touched();
  updateOrder();
  return pet;
}
