import { quantityRule, readQuantity } from "../../domain/ledger/inventory.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { isJsonObject, parseJson } from "../../domain/values/json.ts";
import { invalidJson } from "../messages/error-messages.ts";

export const quantityInvalid = `Field 'quantity' ${quantityRule}.`;
export const quantityMissing = `Field 'quantity' is required and ${quantityRule}.`;
const objectRequired = "The body must be a JSON object with the field 'quantity'.";

/**
 * The body that nearly every client sends, matched without parsing. JSON has four kinds of white
 * space; \s would accept a no-break space too.
 */
const plainUpdate =
  /^[ \t\n\r]*\{[ \t\n\r]*"quantity"[ \t\n\r]*:[ \t\n\r]*(0|[1-9][0-9]{0,14})[ \t\n\r]*\}[ \t\n\r]*$/;

/** Returns the quantity in the body of a stock update. */
export function parseStockUpdate(text: string): number {
  const plain = plainUpdate.exec(text);
  if (plain) return Number(plain[1]);
  const body = parseBody(text);
  if (!isJsonObject(body)) throw new ServiceError("invalid_request", objectRequired);
  if (!Object.hasOwn(body, "quantity")) throw new ServiceError("invalid_request", quantityMissing);
  const quantity = readQuantity(body.quantity);
  if (quantity === undefined) throw new ServiceError("invalid_request", quantityInvalid);
  return quantity;
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ServiceError("invalid_request", invalidJson);
  }
}
