import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useRowWindow } from "./virtual-rows.ts";

interface Props {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly columns: readonly string[];
  /** The number of rows. */
  readonly count: number;
  /** In pixels, as in the style sheet. */
  readonly rowHeight: number;
  readonly keyOf: (index: number) => string;
  /** The cells of a row, each in a <VirtualCell>. */
  readonly cellsOf: (index: number) => ComponentChildren;
}

/** A table in which only the rows in view exist as elements. It scrolls by itself. */
export function VirtualTable({ label, columns, count, rowHeight, keyOf, cellsOf }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const { first, end } = useRowWindow(scroller, count, rowHeight);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, offset) => first + offset);
  return (
    <section
      class="virtual-scroller"
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it.
      tabIndex={0}
      aria-label={label}
    >
      {/* A table element would need all its rows. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: see above. */}
      {/* biome-ignore-start lint/a11y/useFocusableInteractive: rows and cells are no controls. */}
      <div role="table" aria-label={label} aria-rowcount={count + 1}>
        <div role="rowgroup" class="virtual-head">
          <div role="row" class="virtual-row" aria-rowindex={1}>
            {columns.map((column) => (
              <div role="columnheader" class="virtual-cell" key={column}>
                {column}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="virtual-body" style={{ height: `${count * rowHeight}px` }}>
          {indexes.map((index) => (
            <div
              role="row"
              class="virtual-row"
              key={keyOf(index)}
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${index * rowHeight}px)` }}
            >
              {cellsOf(index)}
            </div>
          ))}
        </div>
      </div>
      {/* biome-ignore-end lint/a11y/useFocusableInteractive: see above. */}
      {/* biome-ignore-end lint/a11y/useSemanticElements: see above. */}
    </section>
  );
}

interface CellProps {
  readonly class?: string;
  /** Stands before the content on a phone, which shows no column headers. */
  readonly label?: string;
  readonly children: ComponentChildren;
}

export function VirtualCell(props: CellProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element would need all its rows.
    <div role="cell" class={`virtual-cell ${props.class ?? ""}`} data-label={props.label}>
      {props.children}
    </div>
  );
}
