import { ShownError } from "../client/api.ts";
import { ask } from "../parts/question.tsx";
import { wasScanned } from "../parts/scanner.ts";
import { countOf, formatCount } from "../texts/formats.ts";
import {
  deltaRule,
  isDoubtful,
  parseAddition,
  parseDelta,
  parseQuantity,
  quantityRule,
} from "./quantities.ts";

// Every quantity that a person types or chooses comes through here.

/** A pet, and the stock that its new quantity is compared with. */
interface Pet {
  readonly petId: string;
  readonly name: string;
  readonly barcode?: string | null;
  readonly quantity?: number | undefined;
}

/** A code that is too short to be taken for a scan everywhere. */
const isShortScan = (text: string) => text.length > 2 && wasScanned(text);

/** Asks about those that are doubtful. True if all of them are meant. */
export async function areMeant(typed: readonly (Pet & { readonly text: string })[]) {
  const [first, ...others] = typed.filter(
    ({ text, petId, barcode, quantity }) =>
      text.trim() === barcode || isShortScan(text) || isDoubtful(text, petId, quantity),
  );
  if (!first) return true;
  const { name, text, quantity } = first;
  const shown = formatCount(Number(text.replace(/\D/g, "")));
  const stock = quantity === undefined ? "" : ` The stock is ${formatCount(quantity)}.`;
  const also = others.length === 0 ? "" : ` ${countOf(others.length, "other")} may be wrong, too.`;
  const message = (
    <>
      <bdi>{name}</bdi>: is the quantity {shown}?{stock + also}
    </>
  );
  return ask(message, `Record ${shown}`);
}

/**
 * Reads the new quantity of pets or, with a sign, what is added to it. Undefined if the person did not mean
 * it. Throws if the text is neither.
 */
export async function readChange(
  text: string,
  pets: readonly Pet[],
  isDelta = parseAddition(text) !== undefined,
): Promise<{ readonly quantity?: number; readonly delta?: number } | undefined> {
  const value = isDelta ? parseDelta(text) : parseQuantity(text);
  if (value === undefined) throw new ShownError(isDelta ? deltaRule : quantityRule);
  const typed = pets.map((pet) => ({ ...pet, text, ...(isDelta && { quantity: undefined }) }));
  if (!(await areMeant(typed))) return undefined;
  return isDelta ? { delta: value } : { quantity: value };
}

/** Reads a new quantity, in the same way. */
export async function readQuantity(text: string, pets: readonly Pet[]) {
  return (await readChange(text, pets, false))?.quantity;
}
