import { may } from "../client/session.ts";
import type { Order, OrderStatus } from "../client/types.ts";
import { LinkButton } from "../parts/button.tsx";
import { Empty } from "../parts/loaded.tsx";
import { PetName } from "../parts/names.tsx";
import { Pages } from "../parts/pages.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized, formatCount } from "../texts/formats.ts";

/** The orders, newest first. They are imported, so nothing is changed here. */
export default function OrdersView() {
  return (
    <div class="stack">
      <div class="spread">
        <h1 class="view-title">Orders</h1>
        <LinkButton to="/import?what=orders">Import or export</LinkButton>
      </div>
      <Pages<Order>
        path="/orders?limit=50"
        failedTitle="The orders could not be loaded"
        moreText="Show older orders"
        empty={
          <Empty title="There are no orders yet">
            <p>Orders come from files. Import one to see them here.</p>
            {may("clerk") && (
              <LinkButton kind="primary" to="/import?what=orders">
                Import orders
              </LinkButton>
            )}
          </Empty>
        }
      >
        {(orders) => (
          <Table
            caption="Orders, newest first"
            rows={orders}
            keyOf={({ id }) => id}
            columns={columns}
          />
        )}
      </Pages>
    </div>
  );
}

const tones: Readonly<Record<OrderStatus, string>> = {
  placed: "info",
  approved: "warning",
  delivered: "success",
};

const columns: readonly Column<Order>[] = [
  { title: "Order", cell: ({ id }) => <span class="mono">{id}</span> },
  { title: "Pet", cell: ({ petId }) => <PetName petId={petId} /> },
  { title: "Quantity", isNumber: true, cell: ({ quantity }) => formatCount(quantity) },
  {
    title: "Status",
    cell: ({ status, complete }) => (
      <span>
        <span class={`badge ${tones[status]}`}>{capitalized(status)}</span>{" "}
        {complete && <span class="small muted">Complete</span>}
      </span>
    ),
  },
  {
    title: "Ships",
    cell: ({ shipDate }) =>
      shipDate === null ? <span class="muted">No date</span> : <Time at={shipDate} isShort />,
  },
];
