import type { ImportProblem } from "../client/types.ts";
import { formatCount } from "../texts/numbers.ts";

interface Props {
  readonly problems: readonly ImportProblem[];
  readonly total: number;
}

/** Every bad row with what is wrong in it. */
export function ProblemTable({ problems, total }: Props) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it. */}
      <section class="table-wrap import-table" tabIndex={0} aria-label="Problems">
        <table class="table card-table">
          <thead>
            <tr>
              <th scope="col">Line</th>
              <th scope="col">Column</th>
              <th scope="col">Value</th>
              <th scope="col">What is wrong</th>
            </tr>
          </thead>
          <tbody>
            {problems.map(({ line, column, value, rule }) => (
              <tr key={`${line} ${column} ${rule}`}>
                <td data-label="Line">{formatCount(line)}</td>
                <td data-label="Column">{column ?? <span class="muted">Whole row</span>}</td>
                <td class="import-value" data-label="Value">
                  {value === null ? "" : <bdi class="mono">{value}</bdi>}
                </td>
                <td class="import-rule" data-label="What is wrong">
                  {rule}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {total > problems.length && (
        <p class="small muted">
          The first {formatCount(problems.length)} of {formatCount(total)} problems. Correct these
          and check the file again.
        </p>
      )}
    </>
  );
}
