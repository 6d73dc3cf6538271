import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Import, ImportColumn, ImportDifference, ImportProblem } from "../client/types.ts";
import { Button, LinkButton } from "../parts/button.tsx";
import { SelectField } from "../parts/choices.tsx";
import { takeForm } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { areMeant } from "../stock/quantity-reader.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { clockTime } from "../texts/times.ts";
import { FileName } from "./progress.tsx";
import { applyImport, checkAgain, type Done, rememberHeaders, resetImport } from "./state.ts";
import { examples, type Upload } from "./upload.ts";

/** What the check found: problems, or what the import would change. */
export function Checked({ upload, result, at }: Done) {
  const { problems, differences, created, changed, columns } = result;
  const fields = <ColumnFields upload={upload} columns={columns} />;
  const isUnmapped = columns.some(({ field }) => field === null);
  if (isUnmapped || problems.total > 0) {
    return (
      <section class="stack" aria-label={`${isUnmapped ? "Columns of" : "Problems in"} the file`}>
        {isUnmapped ? (
          <p>
            <FileName upload={upload} /> has columns with names that are not known here.
          </p>
        ) : (
          <div class="notice danger stack">
            <p>
              <FileName upload={upload} /> has <strong>{countOf(problems.total, "problem")}</strong>
              . Nothing was imported: correct the file and try again.
            </p>
            {problems.hint && <p>{problems.hint}</p>}
          </div>
        )}
        {fields}
        {!isUnmapped && <ProblemTable {...problems} />}
        <Actions upload={upload} />
      </section>
    );
  }
  const total = created + changed;
  const one = upload.what === "pets" ? "pet" : "order";
  return (
    <section class="stack" aria-label="Differences">
      <p>
        <FileName upload={upload} /> was checked at {clockTime(at)}. Nothing has changed yet.
      </p>
      {fields}
      <Totals {...result} />
      {total === 0 ? (
        <p class="notice">
          Everything in the file is already in the store. There is nothing to import.
        </p>
      ) : (
        <DifferenceTable differences={differences} one={one} />
      )}
      <Actions upload={upload}>
        {total > 0 && (
          <Button
            kind="primary"
            onClick={async () =>
              (await areMeant(quantitiesOf(upload, result))) && applyImport(upload)
            }
          >
            Import {countOf(total, one)}
          </Button>
        )}
      </Actions>
    </section>
  );
}

/** The quantities of pets that a file would set. */
function quantitiesOf({ what }: Upload, { differences: { rows } }: Import) {
  const changed = rows.filter(({ field }) => what === "pets" && field === "quantity");
  return changed.map(({ id, from, to }) => {
    const quantity = from === null ? undefined : Number(from);
    return { petId: id, name: `Pet ${id}`, quantity, text: String(to) };
  });
}

/** What was imported, and where to see it. */
export function Imported({ upload, result }: Done) {
  const isPets = upload.what === "pets";
  return (
    <section class="stack" aria-label="Result">
      <p class="notice success row">
        <Icon name="check" />
        <span>
          <FileName upload={upload} /> has been imported.
        </span>
      </p>
      <Totals {...result} />
      <div class="row">
        <LinkButton kind="primary" to={isPets ? "/stock" : "/orders"}>
          {isPets ? "Open the stock" : "Open the orders"}
        </LinkButton>
        {isPets && <LinkButton to="/activity?cause=import">See the changes</LinkButton>}
        <Button kind="quiet" onClick={resetImport}>
          Import another file
        </Button>
      </div>
    </section>
  );
}

function Totals({ created, changed, unchanged }: Import) {
  const totals = { New: created, Changed: changed, Unchanged: unchanged };
  return (
    <div class="grid import-totals">
      {Object.entries(totals).map(([label, value]) => (
        <div class="card tile" key={label}>
          <p class="small muted">{label}</p>
          <p class="stat">{formatCount(value)}</p>
        </div>
      ))}
    </div>
  );
}

interface ActionsProps {
  readonly upload: Upload;
  readonly children?: ComponentChildren;
}

function Actions({ upload, children }: ActionsProps) {
  return (
    <div class="row import-actions">
      {children}
      <Button onClick={() => checkAgain(upload)}>Check again</Button>
      <Button kind="quiet" onClick={resetImport}>
        Choose another file
      </Button>
    </div>
  );
}

interface ColumnProps {
  readonly upload: Upload;
  readonly columns: readonly ImportColumn[];
}

/** A field to choose for each column that is not named like one. */
function ColumnFields({ upload, columns }: ColumnProps) {
  const fields = Object.keys(examples[upload.what]);
  const others = columns.filter(({ header }) => header !== "" && !fields.includes(header));
  if (others.length === 0) return null;
  const check = (form: FormData) => {
    const chosen = [...form].filter(([, field]) => field !== "") as [string, string][];
    const map = rememberHeaders(upload.what, { ...upload.map, ...Object.fromEntries(chosen) });
    void checkAgain({ ...upload, map });
  };
  return (
    <details class="card import-columns" open={others.some(({ field }) => field === null)}>
      <summary>Columns with other names</summary>
      <form class="stack" onSubmit={takeForm(check)}>
        <p>Choose what each column contains. It is remembered for the next file.</p>
        {others.map(({ header, field }) => (
          <SelectField
            key={header}
            label={header}
            name={header}
            choices={[
              ["", "Choose…"],
              ...fields.map((name) => [name, name] as const),
              ["ignore", "Leave out"],
            ]}
            value={field ?? ""}
          />
        ))}
        <Button kind="primary">Check with these columns</Button>
      </form>
    </details>
  );
}

/** Every bad row with what is wrong in it. */
function ProblemTable({ rows, total }: Import["problems"]) {
  return (
    <>
      <Table
        scrollLabel="Problems"
        rows={rows}
        keyOf={({ line, column, rule }) => `${line} ${column} ${rule}`}
        columns={problemColumns}
      />
      {total > rows.length && (
        <p class="small muted">
          The first {formatCount(rows.length)} of {formatCount(total)} problems. Correct these and
          check the file again.
        </p>
      )}
    </>
  );
}

const problemColumns: readonly Column<ImportProblem>[] = [
  { title: "Line", cell: ({ line }) => formatCount(line) },
  { title: "Column", cell: ({ column }) => column ?? <span class="muted">Whole row</span> },
  {
    title: "Value",
    class: "import-value",
    cell: ({ value }) => value !== null && <bdi class="mono">{value}</bdi>,
  },
  { title: "What is wrong", class: "import-rule", cell: ({ rule }) => rule },
];

interface DifferenceProps {
  readonly differences: Import["differences"];
  /** What a row of the file is. */
  readonly one: "pet" | "order";
}

/** Drawing a thousand rows at once would freeze the page. */
const rowsPerFrame = 50;

/** Every field that an import would change. */
function DifferenceTable({ differences: { rows, total }, one }: DifferenceProps) {
  const shown = useSignal(rowsPerFrame);
  useEffect(() => {
    if (shown.value >= rows.length) return undefined;
    const frame = requestAnimationFrame(() => (shown.value += rowsPerFrame));
    return () => cancelAnimationFrame(frame);
  });
  const columns: readonly Column<ImportDifference>[] = [
    { title: one === "pet" ? "Pet" : "Order", class: "mono", cell: ({ id }) => id },
    { title: "Field", cell: ({ field }) => field },
    { title: "Now", class: "import-value", cell: ({ from }) => <Value value={from} none="" /> },
    {
      title: "In the file",
      class: "import-value",
      cell: ({ to }) => <Value value={to} none="None" />,
    },
  ];
  return (
    <>
      <Table
        class=""
        scrollLabel="Differences"
        rows={rows.slice(0, shown.value)}
        keyOf={({ id, field }) => `${id} ${field}`}
        columns={columns}
      />
      {total > rows.length && (
        <p class="small muted">
          The first {formatCount(rows.length)} of {formatCount(total)} differences.
        </p>
      )}
    </>
  );
}

/** A value as text. Values come from files, so they can be anything. */
function Value({ value, none }: { readonly value: unknown; readonly none: string }) {
  if (value === null || value === undefined) return <span class="muted">{none}</span>;
  const text = Array.isArray(value) ? value.join(", ") : String(value);
  return text === "" ? <span class="muted">Empty</span> : <bdi>{text}</bdi>;
}
