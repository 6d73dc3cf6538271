import { formats, type ImportKind } from "./import-result.ts";

const kinds: readonly ImportKind[] = ["pets", "orders"];
const formatNames = { csv: "CSV", json: "JSON", ndjson: "NDJSON" } as const;

/** Links to files with all pets or all orders. */
export function Exports() {
  return (
    <section class="card stack exports" aria-labelledby="exports-title">
      <h2 class="card-title" id="exports-title">
        Export
      </h2>
      <p class="muted">
        A file with everything that is in the store now. It can be imported again.
      </p>
      <dl class="export-links">
        {kinds.map((kind) => (
          <div class="row" key={kind}>
            <dt>{kind === "pets" ? "Pets with their stock" : "Orders"}</dt>
            {formats.map((format) => (
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
    </section>
  );
}
