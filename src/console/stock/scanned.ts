import { announce } from "../page/messages.ts";
import { navigate } from "../page/router.ts";
import { formatCount } from "../texts/formats.ts";
import { showAll } from "./address.ts";
import { findOrStop } from "./find-rows.ts";
import { focusCell } from "./focus.ts";
import { selectOnly } from "./selection.ts";
import { indexOfPet, loadStock, table } from "./state.ts";

/** Finds a scanned pet in the list, also if a search or a filter hides it, and selects its row. */
export function selectScanned(code: string): void {
  const row = findOrStop(code);
  if (row === undefined) return;
  const { [row]: petId = "" } = table.value.ids;
  if (indexOfPet(petId) < 0) showAll();
  selectOnly(row);
  focusCell(indexOfPet(petId), "quantity");
  announce(`${table.value.names[row]}: ${formatCount(table.value.quantities[row]!)}`);
}

/** Opens a scanned pet: its details, or another page about it. */
export async function openScanned(code: string, page = "/stock"): Promise<void> {
  await loadStock();
  const row = findOrStop(code);
  if (row !== undefined) navigate(`${page}/${table.value.ids[row]}`);
}
