import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Import, ImportDifference, ImportProblem } from "../client/types.ts";
import { type Column, Table } from "../parts/table.tsx";
import { formatCount } from "../texts/formats.ts";

/** Every bad row with what is wrong in it. */
export function ProblemTable({ rows, total }: Import["problems"]) {
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
export function DifferenceTable({ differences: { rows, total }, one }: DifferenceProps) {
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
