import { batch, computed, effect } from "@preact/signals";
import { petStatusValues } from "../client/types.ts";
import { navigate, place } from "../page/router.ts";
import { sortColumns } from "./order.ts";
import { categoryFilter, isLowOnly, query, sort, statusFilter } from "./state.ts";

// The address has what the list shows, so that it can be shared, reloaded and returned to.

/** For example "?q=rex&status=pending&sort=-quantity", or an empty text for all entries by id. */
export const stockQuery = computed(() => {
  const { column, isDescending } = sort.value;
  const parameters = new URLSearchParams();
  if (query.value !== "") parameters.set("q", query.value);
  for (const status of petStatusValues) {
    if (statusFilter.value.has(status)) parameters.append("status", status);
  }
  if (categoryFilter.value !== undefined) parameters.set("category", categoryFilter.value);
  if (isLowOnly.value) parameters.set("low", "");
  if (column !== "id" || isDescending) parameters.set("sort", isDescending ? `-${column}` : column);
  return parameters.size === 0 ? "" : `?${parameters}`;
});

/** Removes the search and the filters. Sets the signals directly: the address lags while somebody types. */
export function showAll(): void {
  batch(() => {
    query.value = "";
    statusFilter.value = new Set();
    categoryFilter.value = undefined;
    isLowOnly.value = false;
  });
}

/** What the list and the address agreed on last. */
let agreed = "";

// The list shows what the address says, also after Back and Forward. Values that mean nothing are ignored.
effect(() => {
  const { path, query: parameters } = place.value;
  if (!isStock(path) || `${parameters}` === agreed.slice(1)) return;
  const wanted = parameters.get("sort") ?? "";
  const columns = [...sortColumns, "lasts"] as const;
  const column = columns.find((one) => one === wanted.replace("-", "")) ?? "id";
  const statuses = parameters.getAll("status");
  batch(() => {
    query.value = parameters.get("q") ?? "";
    statusFilter.value = new Set(petStatusValues.filter((status) => statuses.includes(status)));
    categoryFilter.value = parameters.get("category") ?? undefined;
    isLowOnly.value = parameters.has("low");
    sort.value = { column, isDescending: wanted === `-${column}` };
  });
  agreed = stockQuery.peek();
});

/** Browsers refuse an address that changes with every key for long. */
const typingMs = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

// The address says what the list shows. A filter is a step of the history, a letter of a search is none.
effect(() => {
  const wanted = stockQuery.value;
  clearTimeout(typing);
  if (wanted === agreed) return;
  const isTyping = withoutSearch(wanted) === withoutSearch(agreed);
  const write = () => {
    const { path } = place.peek();
    if (!isStock(path)) return;
    agreed = wanted;
    navigate(path + wanted, { replace: isTyping });
  };
  if (isTyping) typing = setTimeout(write, typingMs);
  else write();
});

function isStock(path: string): boolean {
  return /^\/stock(\/|$)/.test(path);
}

function withoutSearch(text: string): string {
  return text.replace(/^\?(q=[^&]*&?)?/, "");
}
