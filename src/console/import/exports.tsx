import { useSignal } from "@preact/signals";
import { Card } from "../parts/card.tsx";
import { SelectField } from "../parts/choices.tsx";
import { formatNames, formats, type ImportKind } from "./upload.ts";

const exportFormats = formats.filter((format) => format !== "xlsx");
/** The parameters of a CSV file. Excel knows UTF-8 by a mark at the start (BOM). */
const csvChoices = [
  ["", "with commas"],
  ["&bom=true", "with commas, for Excel"],
  ["&bom=true&delimiter=semicolon", "with semicolons, for Excel"],
  ["&bom=true&delimiter=tab", "with tabs, for Excel"],
] as const;
const kinds: readonly ImportKind[] = ["pets", "orders"];

/** Links to files with all pets or all orders. */
export function Exports() {
  const csv = useSignal<(typeof csvChoices)[number][0]>("");
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
                  href={`/admin/${kind}/export?format=${format}${format === "csv" ? csv.value : ""}`}
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
      <SelectField
        label="CSV"
        choices={csvChoices}
        value={csv.value}
        choose={(chosen) => (csv.value = chosen)}
      />
    </Card>
  );
}
