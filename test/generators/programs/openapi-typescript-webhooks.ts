import type { Same } from "./call-results.ts";
import type { webhooks } from "./schema.ts";

type MessageOf<Type extends keyof webhooks> =
  webhooks[Type]["post"]["requestBody"]["content"]["application/json"];

/** Compiles only if the generator has made a type of each message. */
export function describeMessage(message: MessageOf<"inventory.changed"> | MessageOf<"test">) {
  const isUnion: Same<typeof message.type, "inventory.changed" | "test"> = true;
  if (message.type === "test") return `${isUnion}: ${message.data.changes.length}`;
  return message.data.changes.map(({ petId, after }) => `${petId}: ${after?.quantity}`).join();
}
