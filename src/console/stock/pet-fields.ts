import { request, ShownError } from "../client/api.ts";
import { lookForRenames } from "../client/renames.ts";
import { type PetChange, type PetDetails, petChangeFields } from "../client/types.ts";
import { parseQuantity, quantityRule } from "./quantities.ts";
import { table, touched, updateOrder } from "./state.ts";

interface Field {
  readonly name: keyof PetChange;
  readonly label: string;
  readonly kind: "text" | "list" | "number";
  readonly isRequired: boolean;
}

export const petFields: readonly Field[] = petChangeFields;

type Details = Readonly<Record<string, unknown>>;

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

function readField(field: Field, text: string): unknown {
  const { kind, isRequired, label } = field;
  if (kind === "list") {
    const items = text.split(isOneLine(field) ? "," : "\n").map((item) => item.trim());
    return items.filter((item) => item !== "");
  }
  if (text !== "") return kind === "number" ? readNumber(text) : text;
  if (isRequired) throw new ShownError(`Enter a ${label.toLowerCase()}.`);
  return null;
}

function readNumber(text: string): number {
  const number = parseQuantity(text);
  if (number === undefined) throw new ShownError(quantityRule);
  return number;
}

function readDetails(textOfField: (field: Field) => string): Details {
  return Object.fromEntries(
    petFields.map((field) => [field.name, readField(field, textOfField(field).trim())]),
  );
}

/** Adds the pet of a form, or throws what is wrong with it. The service checks the rest. */
export async function addPet(form: FormData): Promise<PetDetails> {
  const text = (name: string) => String(form.get(name)).trim();
  const petId = text("petId");
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(petId)) throw new ShownError("Enter an id: a whole number.");
  const details = readDetails(({ name }) => text(name));
  const quantity = readNumber(text("quantity"));
  const stock = { quantity, status: text("status"), reason: text("reason") || undefined };
  const body = { petId, ...stock, ...details };
  return show(await request<PetDetails>("/pets", { method: "POST", body }));
}

/**
 * Sends only what the person changed. What another operator changed meanwhile stays, and so does a tag
 * with a comma, which the form would read as two.
 */
export async function changePet(pet: PetDetails, form: FormData): Promise<PetDetails> {
  const details = readDetails(({ name }) => String(form.get(name)));
  const shown = readDetails((field) => textOf(field, pet));
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(shown[name]);
  const body = Object.fromEntries(Object.entries(details).filter(isChanged));
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
