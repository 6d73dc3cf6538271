import { Card } from "../parts/card.tsx";
import { formatNames, formats, type ImportKind } from "./upload.ts";

const exportFormats = formats.filter((format) => format !== "xlsx");
const kinds: readonly ImportKind[] = ["pets", "orders"];

/** Links to files with all pets or all orders. */
export function Exports() {
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
                  href={`/admin/${kind}/export?format=${format}`}
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
    </Card>
  );
}
