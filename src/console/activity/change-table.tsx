import { useSignal } from "@preact/signals";
import { may } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { PetName } from "../parts/names.tsx";
import { causeName, whoOf } from "../parts/origins.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber } from "../texts/formats.ts";
import { type ChangeFilter, noFilter, requestPath, sessionOf } from "./change-filter.ts";
import { StockChange } from "./stock-change.tsx";
import { UndoDialog } from "./undo-dialogs.tsx";

interface Props {
  /** What the rows are, for screen readers. */
  readonly caption: string;
  readonly rows: readonly LedgerRow[];
  /** Rows after this one are new, and marked for a moment. */
  readonly newAfter: number;
  /** True for the history of one pet. It names no pets, but links to the whole inventory then. */
  readonly isOnePet?: boolean;
  readonly filter?: ChangeFilter;
}

/** Changes with all that the ledger knows about them. */
export function ChangeTable(props: Props) {
  const { caption, rows, newAfter, isOnePet = false, filter = noFilter } = props;
  const undoing = useSignal<LedgerRow | undefined>(undefined);
  // The newest of several rows of a request links to all of them, where they can be undone together. Rows
  // of one pet do too: the others of the request are not here. A sale is mostly alone.
  const hasMore = ({ requestId: id, cause }: LedgerRow, at: number) =>
    filter.petId === "" ? rows[at + 1]?.requestId === id : cause !== "api";
  const newest = rows.filter(
    (row, at) =>
      row.requestId !== null && rows[at - 1]?.requestId !== row.requestId && hasMore(row, at),
  );
  const columns: readonly Column<LedgerRow>[] = [
    {
      title: "When",
      class: "change-when nowrap",
      cell: (row) => <When row={row} hasMoment={isOnePet} />,
    },
    ...(isOnePet ? [] : [petColumn]),
    { title: "Change", class: "change-what", cell: (row) => <StockChange {...row} /> },
    { title: "Who", class: "change-who", cell: (row) => <Who row={row} /> },
    {
      title: "Reason",
      class: "change-why",
      cell: (row) => <Why row={row} />,
    },
    {
      title: "Actions",
      isTitleHidden: true,
      class: "change-actions",
      cell: (row) => (
        <>
          {may("clerk") && isUndoable(row) && (
            <Button
              kind="quiet"
              isSmall
              icon="undo"
              label={`Undo change ${changeNumber(row.seq)}`}
              onClick={() => (undoing.value = row)}
            >
              Undo
            </Button>
          )}
          {filter.requestId === "" && newest.includes(row) && (
            <a class="small" href={hrefOf(requestPath(row))}>
              All that belongs to it
            </a>
          )}
        </>
      ),
    },
  ];
  return (
    <>
      <Table
        class="changes"
        caption={caption}
        rows={rows}
        keyOf={({ seq }) => seq}
        isNew={({ seq }) => seq > newAfter}
        columns={columns}
      />
      {undoing.value && (
        <UndoDialog row={undoing.value} close={() => (undoing.value = undefined)} />
      )}
    </>
  );
}

const petColumn: Column<LedgerRow> = {
  title: "Pet",
  class: "change-pet",
  cell: ({ petId }) => <PetName petId={petId} />,
};

function When({ row, hasMoment }: { readonly row: LedgerRow; readonly hasMoment: boolean }) {
  const number = changeNumber(row.seq);
  return (
    <>
      <Time at={row.at} />
      <div class="small muted">
        {hasMoment ? (
          <a href={hrefOf(`/history/moment?at=${row.seq}`)} title="Inventory then">
            {number}
          </a>
        ) : (
          number
        )}
      </div>
    </>
  );
}

function Who({ row }: { readonly row: LedgerRow }) {
  const who = <bdi title={row.keyId ?? undefined}>{whoOf(row)}</bdi>;
  return (
    <>
      {row.keyId === null ? who : <a href={hrefOf(`/activity?key=${row.keyId}`)}>{who}</a>}
      <div class="small muted">{causeName(row.cause)}</div>
    </>
  );
}

/** The reason. The session of an assistant at its end is a link to all that belongs to it. */
function Why({ row }: { readonly row: LedgerRow }) {
  const session = sessionOf(row);
  const reason = row.reason?.replace(` [${session}]`, "");
  return (
    <>
      {reason !== undefined && <bdi>{reason}</bdi>}
      {session !== undefined && (
        <div class="small">
          <a href={hrefOf(`/activity?session=${session}`)}>Session of an assistant</a>
        </div>
      )}
    </>
  );
}

/** A new pet has no earlier stock, and the details of a removed one are gone. */
function isUndoable({ before, after }: LedgerRow): boolean {
  return before !== null && after !== null;
}
