import type { InventoryItem } from "./types.js";

/** The stock of one pet, with the version that was read. */
export interface InventoryEntry extends InventoryItem {
  /**
   * The version of this entry. Pass it as `ifMatch` to an update that must not overwrite a newer
   * count. Empty if the service sent none, as versions before 0.4.0 do after an update.
   */
  readonly etag: string;
}
