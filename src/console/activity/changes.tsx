import { useSignal } from "@preact/signals";
import { may } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { FieldError, useSubmission } from "../parts/fields.tsx";
import { Empty, WhenLoaded } from "../parts/loaded.tsx";
import { PetName } from "../parts/names.tsx";
import { causeName, whoOf } from "../parts/origins.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber } from "../texts/formats.ts";
import {
  type ChangeFilter,
  isFiltered,
  noFilter,
  requestPath,
  sessionOf,
} from "./change-filter.ts";
import type { ChangeList } from "./change-list.ts";
import { StockChange } from "./stock-change.tsx";
import { UndoDialog } from "./undo-dialogs.tsx";

interface Props {
  readonly list: ChangeList;
  readonly caption: string;
  readonly isOnePet?: boolean;
}

/** A list of changes with a button for older ones, or what to do if there are none. */
export function Changes({ list, caption, isOnePet = false }: Props) {
  const rows = list.rows.value;
  return (
    <WhenLoaded source={list} what="the changes">
      {(range) => (
        <>
          {rows.length > 0 && (
            <ChangeTable
              caption={caption}
              rows={rows}
              newAfter={range.high - 1}
              isOnePet={isOnePet}
              filter={list.filter}
            />
          )}
          {list.before.value > range.low ? (
            // It starts anew when the list is loaded again.
            <Older key={range} list={list} low={range.low} />
          ) : (
            rows.length === 0 && <Nothing list={list} isOnePet={isOnePet} />
          )}
        </>
      )}
    </WhenLoaded>
  );
}

function Nothing({ list, isOnePet }: Pick<Props, "list" | "isOnePet">) {
  if (isOnePet) {
    return (
      <Empty title="This pet has no changes">
        <p>The ledger has no row with this id. Check the number.</p>
        <LinkButton to="/history">Choose another pet</LinkButton>
      </Empty>
    );
  }
  if (isFiltered(list.filter)) {
    return (
      <Empty title="No change matches">
        <p>Try a longer period or fewer filters. New changes that match appear here.</p>
        <LinkButton to="/activity">Show all changes</LinkButton>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing has changed yet">
      <p>Changes appear here as soon as somebody makes one, in the console or with the API.</p>
      <LinkButton kind="primary" to="/stock">
        Open the stock
      </LinkButton>
    </Empty>
  );
}

function Older({ list, low }: { readonly list: ChangeList; readonly low: number }) {
  const { isBusy, error, run } = useSubmission();
  return (
    <div class="row">
      {error.value !== "" && <FieldError>{error.value}</FieldError>}
      <Button isDisabled={isBusy.value} onClick={() => run(() => list.loadOlder(low))}>
        {isBusy.value ? "Loading…" : "Show older changes"}
      </Button>
      <span class="small muted">
        Includes everything from change {changeNumber(list.before.value)}
      </span>
    </div>
  );
}

interface TableProps {
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
export function ChangeTable(props: TableProps) {
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
    { title: "Reason", class: "change-why", cell: (row) => <Why row={row} /> },
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
