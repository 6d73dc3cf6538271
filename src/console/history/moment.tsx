import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hourMs } from "../../domain/values/times.ts";
import type { Stock } from "../client/types.ts";
import { hrefOf, navigate } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { ButtonGroup, choicesOf, keptIn, SelectField } from "../parts/choices.tsx";
import { SearchField, takeForm } from "../parts/fields.tsx";
import { rowHeight } from "../parts/layout.ts";
import { Empty, useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { StatusBadge } from "../parts/status.tsx";
import { useRowWindow } from "../parts/virtual-rows.ts";
import { Outdated } from "../stock/nothing.tsx";
import { current, loadStock, outdatedSince, stockSource } from "../stock/state.ts";
import { changeNumber, formatCount, signed } from "../texts/formats.ts";
import { dayAndTime, localInputValue, readLocalInput } from "../texts/times.ts";
import {
  compareWithNow,
  isDifferent,
  loadPast,
  type MomentRow,
  type PastInventory,
  searchRows,
} from "./moment-rows.ts";

/** The whole inventory at a moment, and what is different now. */
export function MomentView({ at }: { readonly at: string }) {
  return (
    <>
      <MomentForm key={at} at={at} />
      {at === "" ? (
        <Empty title="Choose a moment">
          <p>See the whole inventory as it was then, and every difference from now.</p>
        </Empty>
      ) : (
        <Loaded key={at} at={at} />
      )}
    </>
  );
}

function Loaded({ at }: { readonly at: string }) {
  const source = useLoaded((signal) => loadPast(isMoment(at) ? at : "?", signal), [at]);
  useEffect(() => {
    void loadStock();
  }, []);
  return (
    <WhenLoaded source={stockSource} what="the stock">
      {() => (
        <>
          {outdatedSince.value !== undefined && <Outdated since={outdatedSince.value} />}
          <WhenLoaded source={source}>
            {(past) => <Comparison title={titleOf(at, past)} past={past} />}
          </WhenLoaded>
        </>
      )}
    </WhenLoaded>
  );
}

/** The service explains what is wrong with any other text. */
function isMoment(text: string): boolean {
  return /^[\w:.+-]+$/.test(text);
}

function titleOf(at: string, { seq }: PastInventory): string {
  if (/^\d+$/.test(at))
    return seq === 0 ? "Before the first change" : `After change ${changeNumber(seq)}`;
  return `At ${dayAndTime(Date.parse(at))}, after change ${changeNumber(seq)}`;
}

/** Comparing 100,000 pets takes a moment, so it is done at most this often while changes arrive. */
const compareMs = 500;

function Comparison({ title, past }: { readonly title: string; readonly past: PastInventory }) {
  const compared = useSignal(current.peek());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = current.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        compared.value = current.peek();
      }, compareMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [compared]);
  const rows = useComputed(() => compareWithNow(past, compared.value.entries));
  const different = useComputed(() => rows.value.filter(isDifferent));
  const onlyDifferent = useSignal(true);
  const shown = onlyDifferent.value
    ? different.value
    : rows.value.filter(({ before }) => before !== null);
  return (
    <>
      <div class="spread">
        <h2 class="entry-title">{title}</h2>
        <ButtonGroup
          label="Rows"
          choices={[
            [true, `Different from now (${formatCount(different.value.length)})`],
            [false, `All pets then (${formatCount(past.entries.length)})`],
          ]}
          {...keptIn(onlyDifferent)}
        />
      </div>
      {shown.length > 0 ? (
        <MomentTable rows={shown} />
      ) : onlyDifferent.value ? (
        <Empty title="Nothing is different now">
          <p>The quantity and the status of every pet are the same as then.</p>
        </Empty>
      ) : (
        <Empty title="There were no pets yet">
          <p>Choose a later moment.</p>
        </Empty>
      )}
    </>
  );
}

const shortcutHours = Object.entries({ "An hour ago": 1, "A day ago": 24, "A week ago": 168 });

const kinds = choicesOf({ time: "at a time", change: "after a change" });

const field = { id: "moment", name: "moment", class: "input", required: true };

/** Lets the person choose a moment: a time, or the number of a change. */
function MomentForm({ at }: { readonly at: string }) {
  const isNumber = /^\d+$/.test(at);
  const kind = useSignal<"time" | "change">(isNumber ? "change" : "time");
  const isTime = kind.value === "time";
  const open = (moment: string) => navigate(`/history/moment?at=${encodeURIComponent(moment)}`);
  const submit = (form: FormData) => {
    const text = String(form.get("moment") ?? "").trim();
    const moment = isTime ? readLocalInput(text) : text.replace("#", "");
    if (moment !== "") open(moment);
  };
  return (
    <form class="row filter-bar moment-form" onSubmit={takeForm(submit)}>
      <SelectField id="moment-kind" label="Show the inventory" choices={kinds} {...keptIn(kind)} />
      <div class="field" key={kind.value}>
        <label for="moment">{isTime ? "Time" : "Number of the change"}</label>
        {isTime ? (
          <input
            {...field}
            type="datetime-local"
            step="1"
            defaultValue={isNumber ? "" : localInputValue(at)}
          />
        ) : (
          <input
            {...field}
            inputMode="numeric"
            pattern="#?[0-9]{1,16}"
            title="A whole number, such as #12 in the list of changes"
            autocomplete="off"
            defaultValue={isNumber ? at : ""}
          />
        )}
      </div>
      <Button kind="primary">Show</Button>
      <div class="row">
        {shortcutHours.map(([label, hours]) => (
          <Button
            key={label}
            kind="quiet"
            isSmall
            onClick={() => open(new Date(Date.now() - hours * hourMs).toISOString())}
          >
            {label}
          </Button>
        ))}
      </div>
    </form>
  );
}

const columns = ["Id", "Name", "Then", "Now", "Difference"];

/** Pets with their stock then and now, and a search. */
function MomentTable({ rows }: { readonly rows: readonly MomentRow[] }) {
  const text = useSignal("");
  const shown = searchRows(rows, text.value);
  return (
    <>
      <SearchField
        label="Search these pets by id or name"
        placeholder="Search by id or name"
        text={text}
      />
      {shown.length === 0 ? <p class="muted">No pet matches.</p> : <Rows rows={shown} />}
    </>
  );
}

/** Only the rows in view exist as elements. */
function Rows({ rows }: { readonly rows: readonly MomentRow[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const height = rowHeight.value;
  const { first, end } = useRowWindow(scroller, rows.length, height);
  return (
    <section
      class="grid-scroller moment-rows"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
      tabIndex={0}
      aria-label="Pets then and now"
    >
      {/* A table element would need all its rows. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: see above. */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: rows and cells are no controls. */}
      <div role="table" aria-label="Pets then and now" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" class="grid-head">
          <div role="row" class="grid-row" aria-rowindex={1}>
            {columns.map((column) => (
              <div role="columnheader" class="cell" key={column}>
                {column}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="grid-body" style={{ height: `${rows.length * height}px` }}>
          {rows.slice(first, end).map((row, offset) => (
            <div
              role="row"
              class="grid-row"
              key={row.petId}
              aria-rowindex={first + offset + 2}
              style={{ transform: `translateY(${(first + offset) * height}px)` }}
            >
              <Cells row={row} />
            </div>
          ))}
        </div>
      </div>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: see above. */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above. */}
    </section>
  );
}

function Cells({ row }: { readonly row: MomentRow }) {
  const { petId, name, before, now } = row;
  const difference = (now?.quantity ?? 0) - (before?.quantity ?? 0);
  return (
    <>
      <Cell class="mono">
        <a href={hrefOf(`/history/${petId}`)}>{petId}</a>
      </Cell>
      <Cell>
        <bdi class="ellipsis">{name === "" ? <span class="muted">Removed</span> : name}</bdi>
      </Cell>
      <Cell label="then">
        <StockText stock={before} none="Not there yet" />
      </Cell>
      <Cell label="now">
        <StockText stock={now} none="Removed" />
      </Cell>
      <Cell class={difference > 0 ? "gain" : difference < 0 ? "loss" : ""}>
        {difference === 0 ? <span class="muted">0</span> : signed(difference)}
      </Cell>
    </>
  );
}

function StockText({ stock, none }: { readonly stock: Stock | null; readonly none: string }) {
  if (!stock) return <span class="muted">{none}</span>;
  return (
    <>
      {formatCount(stock.quantity)} <StatusBadge status={stock.status} />
    </>
  );
}

interface CellProps {
  readonly class?: string;
  /** Stands before the content on a phone, which shows no column headers. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

function Cell(props: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element would need all its rows.
    <div role="cell" class={`cell ${props.class ?? ""}`} data-label={props.label}>
      {props.children}
    </div>
  );
}
