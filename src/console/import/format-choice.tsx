import { formats } from "./import-result.ts";
import { checkFile, resetImport } from "./state.ts";

const formatNames = { csv: "CSV", json: "JSON", ndjson: "NDJSON" } as const;

/** Asks for the format of a file whose name does not show it. */
export function FormatChoice({ file }: { readonly file: File }) {
  return (
    <section class="card stack" aria-label="Format of the file">
      <p>
        The name <bdi class="mono">{file.name}</bdi> does not show the format. Which one is it?
      </p>
      <div class="row">
        {formats.map((format) => (
          <button
            type="button"
            key={format}
            class="button"
            onClick={() => void checkFile(file, format)}
          >
            {formatNames[format]}
          </button>
        ))}
        <button type="button" class="button quiet" onClick={resetImport}>
          Cancel
        </button>
      </div>
    </section>
  );
}
