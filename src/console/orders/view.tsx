import { useSignal } from "@preact/signals";
import { messageOf, requestPage } from "../client/api.ts";
import { hrefOf } from "../page/router.ts";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { PetName } from "../parts/pet-name.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { formatCount } from "../texts/numbers.ts";

interface Order {
  readonly id: string;
  readonly petId: string;
  readonly quantity: number;
  readonly shipDate: string | null;
  readonly status: string;
  readonly complete: boolean;
}

interface Orders {
  readonly orders: readonly Order[];
  readonly next: string | undefined;
}

const firstPage = "/orders?limit=50";

/** The orders, newest first. They are imported, so nothing is changed here. */
export default function OrdersView() {
  const source = useLoaded(loadFirst);
  return (
    <div class="stack">
      <div class="spread">
        <h1 class="view-title">Orders</h1>
        <a class="button" href={hrefOf("/import?what=orders")}>
          Import or export
        </a>
      </div>
      <WhenLoaded source={source}>{(first) => <OrderList first={first} />}</WhenLoaded>
    </div>
  );
}

async function loadFirst(signal: AbortSignal): Promise<Orders> {
  const { items, next } = await requestPage<Order>(firstPage, signal);
  return { orders: items, next };
}

function OrderList({ first }: { readonly first: Orders }) {
  const shown = useSignal(first);
  const error = useSignal("");
  const isLoading = useSignal(false);
  const { orders, next } = shown.value;
  async function loadMore(path: string): Promise<void> {
    isLoading.value = true;
    error.value = "";
    try {
      const page = await requestPage<Order>(path);
      shown.value = { orders: [...shown.value.orders, ...page.items], next: page.next };
    } catch (failure) {
      error.value = messageOf(failure);
    } finally {
      isLoading.value = false;
    }
  }
  if (orders.length === 0) {
    return (
      <div class="empty">
        <h2>There are no orders yet</h2>
        <p>Orders come from files. Import one to see them here.</p>
        <a class="button primary" href={hrefOf("/import?what=orders")}>
          Import orders
        </a>
      </div>
    );
  }
  return (
    <>
      <OrderTable orders={orders} />
      {error.value !== "" && (
        <p class="field-error" role="alert">
          {error.value}
        </p>
      )}
      {next !== undefined && (
        <div>
          <button
            type="button"
            class="button"
            disabled={isLoading.value}
            onClick={() => void loadMore(next)}
          >
            {isLoading.value ? "Loading…" : "Show older orders"}
          </button>
        </div>
      )}
    </>
  );
}

const badges: Readonly<Record<string, string>> = {
  placed: "info",
  approved: "warning",
  delivered: "success",
};

function OrderTable({ orders }: { readonly orders: readonly Order[] }) {
  return (
    <div class="table-wrap">
      <table class="table card-table">
        <caption class="visually-hidden">Orders, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Order</th>
            <th scope="col">Pet</th>
            <th scope="col" class="number">
              Quantity
            </th>
            <th scope="col">Status</th>
            <th scope="col">Ships</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((order) => (
            <tr key={order.id}>
              <td data-label="Order">
                <span class="mono">{order.id}</span>
              </td>
              <td data-label="Pet">
                <PetName petId={order.petId} />
              </td>
              <td class="number" data-label="Quantity">
                {formatCount(order.quantity)}
              </td>
              <td data-label="Status">
                <span>
                  <span class={`badge ${badges[order.status] ?? ""}`}>
                    {capitalized(order.status)}
                  </span>{" "}
                  {order.complete && <span class="small muted">Complete</span>}
                </span>
              </td>
              <td data-label="Ships">
                {order.shipDate === null ? (
                  <span class="muted">No date</span>
                ) : (
                  <Time at={order.shipDate} isShort />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
