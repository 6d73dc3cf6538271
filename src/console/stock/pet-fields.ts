import { request } from "../api.ts";
import { lookForRenames } from "../renames.ts";
import type { Pet } from "../types.ts";
import { parseQuantity, quantityRule } from "./quantities.ts";
import { table, touched, updateOrder } from "./state.ts";

export interface PetFields {
  /** What is wrong with the fields, or an empty text. */
  readonly error: string;
  readonly details: {
    readonly name: string;
    readonly category: string | null;
    readonly tags: readonly string[];
    readonly photoUrls: readonly string[];
  };
  /** The fields that only a new pet has. */
  readonly created: Readonly<Record<string, unknown>>;
}

/** Reads the form. The service checks the rest. */
export function readPet(form: FormData, isNew: boolean): PetFields {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const list = (name: string, separator: RegExp) =>
    text(name)
      .split(separator)
      .map((one) => one.trim())
      .filter((one) => one !== "");
  const details = {
    name: text("name"),
    category: text("category") === "" ? null : text("category"),
    tags: list("tags", /,/),
    photoUrls: list("photoUrls", /\s+/),
  };
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

export async function changePet(petId: string, { details }: PetFields): Promise<Pet> {
  const pet = show(await request<Pet>(`/pets/${petId}`, { method: "PATCH", body: details }));
  void lookForRenames();
  return pet;
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
