import { useLayoutEffect } from "preact/hooks";
import { may } from "../client/session.ts";
import { Card } from "../parts/card.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { DropZone, FormatChoice } from "./drop-zone.tsx";
import { Failed, Sending } from "./progress.tsx";
import { Checked, Imported } from "./results.tsx";
import { importKind, importState } from "./state.ts";
import { formatNames, formats, type ImportKind } from "./upload.ts";

/** Imports a file in two steps: a check that changes nothing, and the import. */
export default function ImportView({ query }: ViewProps) {
  const what = query.get("what");
  // Before anybody can choose a file: an effect after the paint would be too late on a slow machine.
  useLayoutEffect(() => {
    if (what === "orders" || what === "pets") importKind.value = what;
  }, [what]);
  return (
    <div class="stack import">
      <h1 class="view-title">{may("clerk") ? "Import and export" : "Export"}</h1>
      {may("clerk") && <Step />}
      <Exports />
    </div>
  );
}

function Step() {
  const state = importState.value;
  switch (state.kind) {
    case "idle":
      return <DropZone />;
    case "unknown-format":
      return <FormatChoice file={state.file} />;
    case "sending":
      return <Sending {...state} />;
    case "failed":
      return <Failed {...state} />;
    case "done":
      return state.upload.isDryRun ? <Checked {...state} /> : <Imported {...state} />;
  }
}

const exportFormats = formats.filter((format) => format !== "xlsx");
const kinds: readonly ImportKind[] = ["pets", "orders"];

/** Links to files with all pets or all orders. */
function Exports() {
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
