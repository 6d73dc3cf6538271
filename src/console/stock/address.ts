import { batch, computed, effect } from "@preact/signals";
import { type PetStatus, petStatusValues } from "../client/types.ts";
import { navigate, place } from "../page/router.ts";
import { type Sort, sortColumns } from "./order.ts";
import { categoryFilter, query, sort, statusFilter, updateOrder } from "./state.ts";

// The address has what the list shows, so that it can be shared, reloaded and returned to.

interface Shown {
  readonly text: string;
  readonly statuses: ReadonlySet<PetStatus>;
  readonly category: string | undefined;
  readonly order: Sort;
}

/** Reads a query. Values that mean nothing are ignored. */
function read(parameters: URLSearchParams): Shown {
  const wanted = parameters.get("sort") ?? "";
  const column = sortColumns.find((one) => one === wanted.replace("-", "")) ?? "id";
  const statuses = parameters.getAll("status");
  return {
    text: parameters.get("q") ?? "",
    statuses: new Set(petStatusValues.filter((status) => statuses.includes(status))),
    category: parameters.get("category") ?? undefined,
    order: { column, isDescending: wanted === `-${column}` },
  };
}

/** For example "?q=rex&status=pending&sort=-quantity", or an empty text for all entries by id. */
function write({ text, statuses, category, order }: Shown): string {
  const parameters = new URLSearchParams();
  if (text !== "") parameters.set("q", text);
  for (const status of petStatusValues) {
    if (statuses.has(status)) parameters.append("status", status);
  }
  if (category !== undefined) parameters.set("category", category);
  const wanted = `${order.isDescending ? "-" : ""}${order.column}`;
  if (wanted !== "id") parameters.set("sort", wanted);
  return parameters.size === 0 ? "" : `?${parameters}`;
}

/** What the list shows, as the query of its address. */
export const stockQuery = computed(() =>
  write({
    text: query.value,
    statuses: statusFilter.value,
    category: categoryFilter.value,
    order: sort.value,
  }),
);

// The list shows what the address says, also after Back and Forward.
effect(() => {
  const { path, query: parameters } = place.value;
  const shown = read(parameters);
  if (!/^\/stock(\/|$)/.test(path) || write(shown) === stockQuery.peek()) return;
  batch(() => {
    query.value = shown.text;
    statusFilter.value = shown.statuses;
    categoryFilter.value = shown.category;
    sort.value = shown.order;
    updateOrder();
  });
});

/** Browsers refuse an address that changes with every key for long. */
const typingMs = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

// The address says what the list shows. A filter is a step of the history, a letter of a search is none.
effect(() => {
  const wanted = stockQuery.value;
  const { path, query: parameters } = place.peek();
  const shown = read(parameters);
  clearTimeout(typing);
  if (!/^\/stock(\/|$)/.test(path) || wanted === write(shown)) return;
  const searched = write({ ...shown, text: query.peek() });
  const replace = () => {
    if (place.peek().path === path) navigate(path + searched, { replace: true });
  };
  if (wanted === searched) {
    typing = setTimeout(replace, typingMs);
  } else {
    replace();
    navigate(path + wanted);
  }
});
