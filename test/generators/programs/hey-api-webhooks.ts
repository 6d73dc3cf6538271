import type { Same } from "./call-results.ts";
import type { InventoryChanged, WebhookTest } from "./hey/types.gen.ts";

/** Compiles only if the generator has made a type of each message. */
export function describeMessage(message: InventoryChanged | WebhookTest) {
  const isUnion: Same<typeof message.type, "inventory.changed" | "test"> = true;
  if (message.type === "test") return `${isUnion}: ${message.data.changes.length}`;
  return message.data.changes.map(({ petId, after }) => `${petId}: ${after?.quantity}`).join();
}
