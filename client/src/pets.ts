import { readBody } from "./body.js";
import type { Transport } from "./call.js";
import { decodePet } from "./decode.js";
import { formatId, type Id } from "./id.js";
import type { CallOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { Pet } from "./types.js";

export async function getPet(
  transport: Transport,
  petId: Id,
  options: CallOptions,
): Promise<WithResponse<Pet>> {
  const path = `/pets/${formatId("petId", petId)}`;
  const call = { operation: "getPet", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodePet), response };
}
