import { request, ShownError } from "../client/api.ts";
import { lookForRenames } from "../client/renames.ts";
import { type PetChange, type PetDetails, petChangeFields } from "../client/types.ts";
import { readQuantity } from "./quantity-reader.tsx";
import { table, touched, updateOrder } from "./state.ts";

interface Field {
  readonly name: keyof PetChange;
  readonly label: string;
  readonly kind: "text" | "list" | "number";
  readonly isRequired: boolean;
}

export const petFields: readonly Field[] = petChangeFields;

type Details = Record<string, unknown>;

/** Tags are short, so a form has them on one line. Other lists have an item per line. */
export const isOneLine = ({ name, kind }: Field) => kind !== "list" || name === "tags";

export function hintOf(field: Field): string | undefined {
  if (field.kind !== "list") return undefined;
  return isOneLine(field) ? "Separated by commas." : "One per line.";
}

/** A field of a pet as the form shows it. */
export function textOf(field: Field, pet: PetDetails | undefined): string {
  const value = pet?.[field.name] ?? "";
  return typeof value === "object" ? value.join(isOneLine(field) ? ", " : "\n") : String(value);
}

type Named = Pick<PetDetails, "petId" | "name">;

function readField(field: Field, text: string, pet: Named): unknown {
  const { kind, isRequired, label } = field;
  if (kind === "list") {
    const items = text.split(isOneLine(field) ? "," : "\n").map((item) => item.trim());
    return items.filter((item) => item !== "");
  }
  if (text !== "") return kind === "number" ? readNumber(text, pet, label) : text;
  if (isRequired) throw new ShownError(`Enter a ${label.toLowerCase()}.`);
  return null;
}

async function readNumber(text: string, pet: Named, label: string): Promise<number> {
  const number = await readQuantity(text, [pet]);
  if (number === undefined) throw new ShownError(`Nothing was saved. Correct “${label}”.`);
  return number;
}

/** Adds the pet of a form, or throws what is wrong with it. The service checks the rest. */
export async function addPet(form: FormData): Promise<PetDetails> {
  const text = (name: string) => String(form.get(name)).trim();
  const petId = text("petId");
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(petId)) throw new ShownError("Enter an id: a whole number.");
  const pet = { petId, name: text("name") };
  const details: Details = {};
  for (const field of petFields) {
    details[field.name] = await readField(field, text(field.name), pet);
  }
  const quantity = await readNumber(text("quantity"), pet, "Quantity");
  const stock = { quantity, status: text("status"), reason: text("reason") || undefined };
  const body = { petId, ...stock, ...details };
  return show(await request<PetDetails>("/pets", { method: "POST", body }));
}

/**
 * Sends only what the person changed. What another operator changed meanwhile stays, and so does a tag
 * with a comma, which the form would read as two.
 */
export async function changePet(pet: PetDetails, form: FormData): Promise<PetDetails> {
  const body: Details = {};
  for (const field of petFields) {
    // A form has other ends of lines.
    const text = String(form.get(field.name)).replaceAll("\r", "").trim();
    if (text === textOf(field, pet).trim()) continue;
    body[field.name] = await readField(field, text, pet);
  }
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
