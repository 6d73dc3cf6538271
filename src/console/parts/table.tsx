import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly title: string;
  /** The content of a cell. */
  readonly cell: (row: Row) => ComponentChildren;
  readonly class?: string;
  /** True if only screen readers need the title. */
  readonly isTitleHidden?: boolean;
  /** True for numbers, which are aligned to the right. */
  readonly isNumber?: boolean;
  /** True for the column that names the row. On a phone, the other cells start with their titles. */
  readonly isMain?: boolean;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly columns: readonly Column<Row>[];
  /** True for a row that is marked for a moment. */
  readonly isNew?: (row: Row) => boolean;
  readonly class?: string;
  /** What the rows are, for screen readers. */
  readonly caption?: string;
  /** The name of a table that scrolls by itself. */
  readonly scrollLabel?: string;
}

/** A table. With the class `card-table`, its rows become cards on a phone. */
export function Table<Row>(props: Props<Row>) {
  const { rows, keyOf, columns, isNew, class: kind = "card-table", caption, scrollLabel } = props;
  const table = (
    <table class={`table ${kind}`}>
      {caption && <caption class="visually-hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map(({ title, isNumber, isTitleHidden }) => (
            <th key={title} scope="col" class={isNumber ? "number" : ""}>
              {isTitleHidden ? <span class="visually-hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} data-row={keyOf(row)} class={isNew?.(row) ? "is-changed" : ""}>
            {columns.map((column) => (
              <td
                key={column.title}
                data-label={column.isMain || column.isTitleHidden ? undefined : column.title}
                class={`${column.class ?? ""} ${column.isNumber ? "number" : ""}`}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (scrollLabel === undefined) return <div class="table-wrap">{table}</div>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
    <section class="table-wrap scroll-table" tabIndex={0} aria-label={scrollLabel}>
      {table}
    </section>
  );
}
