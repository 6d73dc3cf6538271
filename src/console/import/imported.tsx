import type { Import } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { Count } from "./checked.tsx";
import { FileName } from "./progress.tsx";
import { resetImport } from "./state.ts";
import type { Upload } from "./upload.ts";

interface Props {
  readonly upload: Upload;
  readonly result: Import;
}

/** What was imported, and where to see it. */
export function Imported({ upload, result }: Props) {
  const isPets = upload.what === "pets";
  return (
    <section class="stack" aria-label="Result">
      <p class="notice success row">
        <Icon name="check" />
        <span>
          <FileName upload={upload} /> has been imported.
        </span>
      </p>
      <div class="grid import-counts">
        <Count label="New" value={result.created} />
        <Count label="Changed" value={result.changed} />
        <Count label="Unchanged" value={result.unchanged} />
      </div>
      <div class="row">
        <a class="button primary" href={hrefOf(isPets ? "/stock" : "/orders")}>
          {isPets ? "Open the stock" : "Open the orders"}
        </a>
        {isPets && (
          <a class="button" href={hrefOf("/activity?cause=import")}>
            See the changes
          </a>
        )}
        <button type="button" class="button quiet" onClick={resetImport}>
          Import another file
        </button>
      </div>
    </section>
  );
}
