import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { may } from "../client/session.ts";
import { petChangeFields } from "../client/types.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { ButtonGroup, choicesOf, keptIn } from "../parts/choices.tsx";
import { FieldError } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { Failed, Sending } from "./progress.tsx";
import { Checked, Imported } from "./results.tsx";
import { checkFile, chooseFile, importKind, importState, resetImport } from "./state.ts";
import { examples, formatNames, formats, type ImportKind } from "./upload.ts";

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

const kindChoices = choicesOf({ pets: "Pets", orders: "Orders" });

/** Takes a file by drag and drop, or with a dialog of the browser. */
function DropZone() {
  const field = useRef<HTMLInputElement>(null);
  const isOver = useSignal(false);
  const error = useSignal("");
  const take = (files: FileList | null | undefined) => {
    const [file, second] = files ?? [];
    error.value = second ? "Drop one file at a time." : "";
    if (file && !second) chooseFile(file);
  };
  return (
    <section class="stack" aria-label="Choose a file">
      <div class="row">
        <span class="label">The file contains</span>
        <ButtonGroup label="The file contains" choices={kindChoices} {...keptIn(importKind)} />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same. */}
      <div
        class={`stack drop-zone ${isOver.value ? "is-over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          isOver.value = true;
        }}
        onDragLeave={() => (isOver.value = false)}
        onDrop={(event) => {
          event.preventDefault();
          isOver.value = false;
          take(event.dataTransfer?.files);
        }}
      >
        <Icon name="import" />
        <p>
          Drop a file with {importKind.value} here, or{" "}
          <Button isSmall class="file-button" onClick={() => field.current?.click()}>
            choose a file
          </Button>
          {/* It takes no place: some browsers draw its parts beyond any width that it is given. */}
          <input
            ref={field}
            id="import-file"
            type="file"
            hidden
            accept=".xlsx,.csv,.tsv,.txt,.json,.ndjson,.jsonl"
            onChange={(event) => take(event.currentTarget.files)}
          />
        </p>
        <p class="small muted">
          Excel (.xlsx), CSV, JSON or NDJSON. The file is checked first, and you see every
          difference before anything changes.{" "}
          <a href={exampleOf(importKind.value)} download={`${importKind.value}-example.csv`}>
            Download an example
          </a>
        </p>
        <p class="small muted">{columnsOf[importKind.value]}</p>
      </div>
      <FieldError>{error.value}</FieldError>
    </section>
  );
}

const columnsOf: Record<ImportKind, string> = {
  pets: `Columns: petId, and any of ${petChangeFields.map(({ name }) => name).join(", ")}, status and quantity. Pets that are not in the file stay as they are.`,
  orders:
    "Columns: id, petId, quantity and status, and any of shipDate and complete. Orders that are not in the file stay as they are.",
};

/** The address of a CSV file with one row. */
function exampleOf(kind: ImportKind): string {
  const fields = examples[kind];
  const text = [Object.keys(fields), Object.values(fields)].join("\n");
  return `data:text/csv,${encodeURIComponent(text)}`;
}

/** Asks for the format of a file whose name does not show it. */
function FormatChoice({ file }: { readonly file: File }) {
  return (
    <section class="card stack" aria-label="Format of the file">
      <p>
        The name <bdi class="mono">{file.name}</bdi> does not show the format. Which one is it?
      </p>
      <div class="row">
        {formats.map((format) => (
          <Button key={format} onClick={() => checkFile(file, format)}>
            {formatNames[format]}
          </Button>
        ))}
        <Button kind="quiet" onClick={resetImport}>
          Cancel
        </Button>
      </div>
    </section>
  );
}
