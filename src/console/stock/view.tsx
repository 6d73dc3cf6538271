import { useEffect } from "preact/hooks";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { useScans } from "../parts/scanner.ts";
import { type Shortcut, ViewHead, type ViewProps } from "../parts/view.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { CountPanel } from "./count-panel.tsx";
import { isCounting } from "./counting.ts";
import { EditSheet, UnfinishedEdit } from "./edit-elsewhere.tsx";
import { Grid } from "./grid.tsx";
import { NoMatches, NoPets, Outdated } from "./nothing.tsx";
import { PetDialog } from "./pet-dialog.tsx";
import { selectScanned } from "./scanned.ts";
import {
  closePetDialog,
  current,
  loadState,
  loadStock,
  openPetDialog,
  outdatedSince,
  petDialog,
  stockSource,
  visible,
} from "./state.ts";
import { Actions, Shown, Toolbar } from "./toolbar.tsx";

export const shortcuts: readonly Shortcut[] = [
  ["/", "Search"],
  ["↑ ↓ ← →", "Move from cell to cell"],
  ["PgUp PgDn", "Move by a page"],
  ["Ctrl+Home Ctrl+End", "Go to the first or last row"],
  ["Enter", "Edit the cell, then save; open the history"],
  ["0 … 9", "Type a new quantity"],
  ["+ −", "Type a number to add to the quantity, or to take from it"],
  ["Tab", "Next field of the edit; the last one is the reason"],
  ["Esc", "Cancel the edit, or clear the selection"],
  ["Space", "Select the row"],
  ["Shift+↑ Shift+↓", "Select several rows"],
  ["Ctrl+A", "Select all rows in view"],
  ["E", "Open the details of the pet"],
];

/**
 * /stock shows all entries, /stock/count counts them, /stock/delivery adds what arrives, and /stock/ID
 * opens the details of a pet.
 */
export default function StockView({ rest }: ViewProps) {
  useEffect(() => {
    void loadStock();
    return closePetDialog;
  }, []);
  const isList = !isCounting.value && rest !== "delivery";
  useScans(isList ? selectScanned : undefined);
  useEffect(() => {
    if (/^-?\d+$/.test(rest)) openPetDialog(rest);
  }, [rest]);
  if (rest === "delivery" && loadState.value.kind === "ready") return <Delivery />;
  return (
    <div class="stock">
      <ViewHead title={isCounting.value ? "Count the stock" : "Stock"} badges={<Shown />}>
        <Actions />
      </ViewHead>
      {isCounting.value && <CountPanel />}
      <WhenLoaded source={stockSource} what="the stock">
        {() => <Entries />}
      </WhenLoaded>
      <BulkBar />
      <EditSheet />
      {petDialog.value && <PetDialog {...petDialog.value} />}
    </div>
  );
}

/** Its code is loaded on demand: most visits to the stock are no deliveries. */
function Delivery() {
  const source = useLoaded(() => import("./delivery.tsx"));
  return <WhenLoaded source={source}>{(loaded) => <loaded.Delivery />}</WhenLoaded>;
}

function Entries() {
  const outdated = outdatedSince.value !== undefined && <Outdated since={outdatedSince.value} />;
  if (current.value.entries.size === 0) return outdated || <NoPets />;
  return (
    <>
      {outdated}
      <Toolbar />
      <UnfinishedEdit />
      {visible.value.length === 0 ? <NoMatches /> : <Grid />}
    </>
  );
}
