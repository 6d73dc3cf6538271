import { ShownError } from "../client/api.ts";
import { ask } from "../parts/question.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import {
  isDoubtful,
  parseAddition,
  parseDelta,
  parseQuantity,
  quantityRule,
} from "./quantities.ts";

// Every quantity that a person types or chooses comes through here.

/** A pet, and what its new quantity is compared with. */
interface Pet {
  readonly petId: string;
  readonly name: string;
  readonly barcode?: string | null;
  readonly quantity?: number;
}
export interface Typed extends Pet {
  readonly text: string;
}

/** Asks about those that are doubtful. True if all of them are meant. */
export async function areMeant(typed: readonly Typed[]): Promise<boolean> {
  const [first, ...others] = typed.filter(
    ({ text, petId, barcode, quantity }) =>
      text.trim() === barcode || isDoubtful(text, petId, quantity),
  );
  if (!first) return true;
  const shown = formatCount(Number(first.text.replace(/\D/g, "")));
  const stock = first.quantity === undefined ? "" : ` The stock is ${formatCount(first.quantity)}.`;
  const also = others.length === 0 ? "" : ` ${countOf(others.length, "other")} may be wrong, too.`;
  return ask(`${first.name}: is the quantity ${shown}?${stock}${also}`, `Record ${shown}`);
}

/** Reads the new quantity of pets. Undefined if the person did not mean it. Throws if the text is none. */
export async function readQuantity(text: string, pets: readonly Pet[]) {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new ShownError(quantityRule);
  const isMeant = await areMeant(pets.map((pet) => ({ ...pet, text })));
  return isMeant ? quantity : undefined;
}

/** Reads what is added to the quantity of pets, in the same way. */
export async function readDelta(text: string, pets: readonly Pet[]) {
  const delta = parseDelta(text);
  if (delta === undefined) throw new ShownError("Enter a whole number, such as 5 or -2.");
  const isMeant = await areMeant(pets.map(({ petId, name }) => ({ petId, name, text })));
  return isMeant ? delta : undefined;
}

/** Reads a new quantity or, with a sign, what is added to it. */
export async function readChange(text: string, pets: readonly Pet[]) {
  if (parseAddition(text) === undefined) return { quantity: await readQuantity(text, pets) };
  return { delta: await readDelta(text, pets) };
}
