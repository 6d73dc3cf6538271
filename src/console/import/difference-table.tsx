import type { ImportDifference } from "../client/types.ts";
import { formatCount } from "../texts/numbers.ts";

interface Props {
  readonly rows: readonly ImportDifference[];
  readonly total: number;
  /** What a row of the file is: "pet" or "order". */
  readonly one: string;
}

/** Every field that an import would change. */
export function DifferenceTable({ rows, total, one }: Props) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <section class="table-wrap import-table" tabIndex={0} aria-label="Differences">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{one === "pet" ? "Pet" : "Order"}</th>
              <th scope="col">Field</th>
              <th scope="col">Now</th>
              <th scope="col">In the file</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, field, from, to }) => (
              <tr key={`${id} ${field}`}>
                <td class="mono">{id}</td>
                <td>{field}</td>
                <td class="import-value">
                  <Value value={from} none="" />
                </td>
                <td class="import-value">
                  <Value value={to} none="None" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
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
  return text === "" ? <span class="muted">Empty</span> : <bdi class="value">{text}</bdi>;
}
