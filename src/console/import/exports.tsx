import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Card } from "../parts/card.tsx";
import { Select } from "../parts/choices.tsx";
import { formatNames, formats, type ImportKind } from "./upload.ts";

const exportFormats = formats.filter((format) => format !== "xlsx");

const delimiters = [
  ["comma", "commas"],
  ["semicolon", "semicolons"],
  ["tab", "tabs"],
] as const;
const kinds: readonly ImportKind[] = ["pets", "orders"];

/** Links to files with all pets or all orders. */
export function Exports() {
  const delimiter = useSignal<"comma" | "semicolon" | "tab">("comma");
  const hasMark = useSignal(false);
  const id = useId();
  const queryOf = (format: string) => {
    const csv = { delimiter: delimiter.value, bom: `${hasMark.value}` };
    return new URLSearchParams({ format, ...(format === "csv" ? csv : {}) });
  };
  return (
    <Card title="Export" class="stack exports">
      <p class="muted">
        A file with everything that is in the store now. It can be imported again.
      </p>
      <dl class="stack export-links">
        {kinds.map((kind) => (
          <div class="row" key={kind}>
            <dt>{kind === "pets" ? "Pets with their stock" : "Orders"}</dt>
            {exportFormats.map((format) => (
              <dd key={format}>
                <a
                  class="button small"
                  href={`/admin/${kind}/export?${queryOf(format)}`}
                  download=""
                  aria-label={`Export ${kind} as ${formatNames[format]}`}
                >
                  {formatNames[format]}
                </a>
              </dd>
            ))}
          </div>
        ))}
      </dl>
      <div class="row">
        <label for={id}>CSV separated by</label>
        <Select
          id={id}
          choices={delimiters}
          value={delimiter.value}
          choose={(name) => (delimiter.value = name)}
        />
        <label class="choice">
          <input
            class="checkbox"
            type="checkbox"
            checked={hasMark.value}
            onChange={(event) => (hasMark.value = event.currentTarget.checked)}
          />
          <span class="choice-text">With a mark for Excel (BOM)</span>
        </label>
      </div>
    </Card>
  );
}
