import { useSignal } from "@preact/signals";

interface Props {
  readonly title: string;
  readonly columns: readonly string[];
  /** The number of rows. */
  readonly count: number;
  readonly rowOf: (row: number) => readonly string[];
}

/** The same numbers as a table. Its rows exist only while it is open. */
export function ChartTable({ title, columns, count, rowOf }: Props) {
  const isOpen = useSignal(false);
  return (
    <details
      class="chart-table small"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary class="muted">Show as a table</summary>
      {isOpen.value && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
        <section class="table-wrap" tabIndex={0} aria-label={`${title}, as a table`}>
          <table class="table">
            <thead>
              <tr>
                {columns.map((column, place) => (
                  <th key={column} scope="col" class={place === 0 ? "" : "number"}>
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: count }, (_, row) => (
                <tr key={rowOf(row)[0]}>
                  {rowOf(row).map((text, place) => (
                    <td key={columns[place]} class={place === 0 ? "" : "number"}>
                      {text}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
