import { batch, computed, effect, signal } from "@preact/signals";
import { ApiError, messageOf, request } from "../client/api.ts";
import { Follower } from "../client/follower.ts";
import { describePets } from "../client/pet-names.ts";
import { onRenamed, whenWatchingNames } from "../client/renames.ts";
import { onSignOut } from "../client/session.ts";
import type { LedgerRow, PetDetails, PetStatus, StockList } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import type { Loaded } from "../parts/loaded.tsx";
import { closedByScan } from "../parts/scans.ts";
import { facts } from "../parts/service.ts";
import { loadSales, sales } from "./lasting.ts";
import { countStatuses, type Sort, searchRows, sortRows } from "./order.ts";
import { StockTable } from "./table.ts";

// The entries that the Stock view shows. They are loaded once and then follow the feed, so that the
// view is there at once when somebody comes back to it.

export const loadState = signal<Loaded<null>>({ kind: "loading" });
/** Since when changes may be missing, because the entries could not be loaded again. */
export const outdatedSince = signal<number | undefined>(undefined);
/** The object stays the same while its entries change. */
export const table = signal(new StockTable());
/** Counts the changes of entries. */
const revision = signal(0);
/** The same entries, for what is to be drawn or computed again when one of them changes. */
export const current = computed(() => ({ entries: table.value, revision: revision.value }));
/** The entries as they are sorted. A new object sorts them again. */
const arranged = signal({ entries: table.value });
/** True if rows are not where the sorting and the filters would put them now. */
export const isOrderStale = signal(false);

export const query = signal("");
export const statusFilter = signal<ReadonlySet<PetStatus>>(new Set());
/** Whether only entries that are low are in view. */
export const isLowOnly = signal(false);
/** Undefined shows all categories, an empty text the pets without one. */
export const categoryFilter = signal<string | undefined>(undefined);
/** A filter that counting adds. */
export const rowFilter = signal<((row: number) => boolean) | undefined>(undefined);
export const sort = signal<Sort>({ column: "id", isDescending: false });

const sorted = computed(() => sortRows(arranged.value.entries, sort.value));
const matches = computed(() => {
  const found = searchRows(table.value, sorted.value, query.value);
  if (categoryFilter.value === undefined) return found;
  const { categories: texts, categoryCodes } = table.value;
  const code = texts.indexOf(categoryFilter.value);
  return found.filter((row) => categoryCodes[row] === code);
});

/** More would make no list that people read. The search finds the others. */
const categoriesMax = 200;

/** The categories of all pets, by name. */
export const categories = computed<readonly string[]>(() => {
  const { categories: texts, categoryCodes } = table.value;
  const isUsed: boolean[] = [];
  for (const row of sorted.value) isUsed[categoryCodes[row]!] = true;
  const used = texts.filter((text, code) => text !== "" && isUsed[code]);
  return used.slice(0, categoriesMax).sort((one, other) => one.localeCompare(other));
});

/** How many matches of the search and of the category have each status. */
export const statusCounts = computed(() =>
  countStatuses(matches.value, current.value.entries.statusCodes),
);

/** An entry is low if its quantity is at most its threshold: its own, or else the default of the store. */
export function isLow(row: number, { quantities, lowStockAt }: StockTable): boolean {
  return quantities[row]! <= (lowStockAt.get(row) ?? facts.value?.lowStockAt ?? -1);
}

/** How many matches of the search are low. */
export const lowCount = computed(() => {
  const { entries } = current.value;
  return matches.value.reduce((sum, row) => sum + (isLow(row, entries) ? 1 : 0), 0);
});

/** The rows in view, in order. */
export const visible = computed<Uint32Array>(() => {
  const rows = matches.value;
  const chosen = statusFilter.value;
  const isWanted = rowFilter.value;
  if (chosen.size === 0 && !isWanted && !isLowOnly.value) return rows;
  const entries = table.value;
  return rows.filter(
    (row) =>
      (chosen.size === 0 || chosen.has(entries.statusAt(row))) &&
      (!isWanted || isWanted(row)) &&
      (!isLowOnly.value || isLow(row, entries)),
  );
});

/** The place of a pet among the rows in view, or -1. */
export function indexOfPet(petId: string): number {
  const row = table.value.findRow(petId);
  return row === undefined ? -1 : visible.value.indexOf(row);
}

/** Its id if it was removed. */
export function petNameOf(petId: string): string {
  return table.value.names[table.value.findRow(petId) ?? -1] ?? petId;
}

/** Moves rows to their places now. */
export function updateOrder(): void {
  batch(() => {
    arranged.value = { entries: table.value };
    isOrderStale.value = false;
  });
}

let following: Promise<void> | undefined;
/** Pets that were renamed while the entries are loaded, which may have the old names. */
let renamedMeanwhile: string[] = [];

const follower = new Follower({
  async load(signal) {
    await whenWatchingNames();
    renamedMeanwhile = [];
    return request<StockList>("/stock", { signal });
  },
  show({ entries }, early) {
    table.value = new StockTable(entries);
    loadState.value = { kind: "ready", value: null };
    outdatedSince.value = undefined;
    receive(early);
    updateOrder();
    if (renamedMeanwhile.length > 0) void describeAgain(renamedMeanwhile);
    void explainLastChanges(table.value);
  },
  receive,
  failed(error) {
    // The page keeps what it shows, and says that changes may be missing.
    if (loadState.value.kind === "ready") outdatedSince.value ??= Date.now();
    else loadState.value = { kind: "failed", message: messageOf(error) };
  },
});

/** Loads all entries, unless they are there, and follows the feed from then on. */
export function loadStock(): Promise<void> {
  following ??= follower.start();
  return following;
}

export const reload = () => follower.reload();
export const stockSource = { state: loadState, reload };

/** How many changes the API returns at once. */
const explainedMax = 1_000;

/** Loads who made the newest changes, which are those that people ask about. */
async function explainLastChanges(entries: StockTable): Promise<void> {
  const last = entries.versions.reduce((one, other) => Math.max(one, other), 0);
  const after = Math.max(0, last - explainedMax);
  const path = `/changes?after=${after}&limit=${explainedMax}`;
  const changes = await request<readonly LedgerRow[]>(path).catch(() => []);
  for (const change of changes) entries.explain(change);
  if (entries === table.value) revision.value += 1;
}

function receive(changes: readonly LedgerRow[]): void {
  const unknown = new Set<string>();
  batch(() => {
    for (const change of changes) {
      const row = table.value.apply(change);
      if (change.after === null) updateOrder();
      else if (row === undefined) unknown.add(change.petId);
    }
    touched();
  });
  if (unknown.size > addedSinglyMax) void reload();
  else for (const petId of unknown) void addPet(petId);
}

/** An import can add thousands of pets. Then one request for all entries is better than one for each. */
const addedSinglyMax = 20;

/** A change names only the id of a pet. The rest is loaded. */
async function addPet(petId: string): Promise<void> {
  const from = table.value;
  try {
    const pet = await request<PetDetails>(`/pets/${petId}`);
    if (from !== table.value) return;
    table.value.add(pet);
    updateOrder();
    touched();
  } catch (error) {
    // It was removed again, or the connection is lost.
    if (!(error instanceof ApiError && error.status === 404)) await reload();
  }
}

onRenamed((renamed) => {
  if (!following) return;
  renamedMeanwhile.push(...(renamed ?? []));
  if (renamed) void describeAgain([...renamed]);
  else void reload();
});

async function describeAgain(petIds: readonly string[]): Promise<void> {
  const from = table.value;
  const found = await describePets(petIds).catch(() => undefined);
  if (from !== table.value) return;
  if (!found) return reload();
  for (const pet of found) {
    const row = from.findRow(pet.petId);
    if (row !== undefined) from.describe(row, pet);
  }
  batch(() => {
    revision.value += 1;
    isOrderStale.value = true;
  });
}

/** Shows what changed in the table. */
export function touched(): void {
  const { column } = sort.value;
  const isFiltered = statusFilter.value.size > 0 || isLowOnly.value;
  const isAffected = isFiltered || !["id", "name", "category"].includes(column);
  batch(() => {
    revision.value += 1;
    if (isAffected) isOrderStale.value = true;
  });
}

onSignOut(() => {
  if (!following) return;
  following = undefined;
  follower.stop();
  batch(() => {
    table.value = new StockTable();
    updateOrder();
    loadState.value = { kind: "loading" };
    outdatedSince.value = undefined;
  });
});

/** Shows how long the stock lasts, what ends first at the top; or the last changes again. */
export function showLasting(isShown: boolean): void {
  sort.value = { column: isShown ? "lasts" : "id", isDescending: false };
  updateOrder();
  if (!isShown) sales.value = undefined;
}

// Also after a load of the page, because the address has the order.
effect(() => {
  if (sort.value.column !== "lasts" || loadState.value.kind !== "ready") return;
  loadSales().catch((error) => {
    showError(messageOf(error));
    showLasting(false);
  });
});

/** The pet whose details are open; `petId` is undefined for a new one. */
export const petDialog = signal<{ readonly petId: string | undefined } | undefined>(undefined);

closedByScan(petDialog);

export function openPetDialog(petId: string | undefined): void {
  petDialog.value = { petId };
}

export function closePetDialog(): void {
  petDialog.value = undefined;
}
