import type { ComponentChildren } from "preact";
import type { Import } from "../client/types.ts";
import { countOf, formatCount } from "../texts/numbers.ts";
import { clockTime } from "../texts/times.ts";
import { DifferenceTable } from "./difference-table.tsx";
import { ProblemTable } from "./problem-table.tsx";
import { FileName } from "./progress.tsx";
import { applyImport, checkAgain, resetImport } from "./state.ts";
import type { Upload } from "./upload.ts";

interface Props {
  readonly upload: Upload;
  readonly result: Import;
  /** When it was checked, in milliseconds. */
  readonly at: number;
}

/** What the check found: problems, or what the import would change. */
export function Checked({ upload, result, at }: Props) {
  const { problems, differences, created, changed, unchanged } = result;
  if (problems.total > 0) {
    return (
      <section class="stack" aria-label="Problems in the file">
        <div class="notice danger stack">
          <p>
            <FileName upload={upload} /> has <strong>{countOf(problems.total, "problem")}</strong>.
            Nothing was imported: correct the file and try again.
          </p>
          {problems.hint && <p>{problems.hint}</p>}
        </div>
        <ProblemTable problems={problems.rows} total={problems.total} />
        <Actions upload={upload} />
      </section>
    );
  }
  const count = created + changed;
  const one = upload.what === "pets" ? "pet" : "order";
  return (
    <section class="stack" aria-label="Differences">
      <p>
        <FileName upload={upload} /> was checked at {clockTime(at)}. Nothing has changed yet.
      </p>
      <div class="grid import-counts">
        <Count label="New" value={created} />
        <Count label="Changed" value={changed} />
        <Count label="Unchanged" value={unchanged} />
      </div>
      {count === 0 ? (
        <p class="notice">
          Everything in the file is already in the store. There is nothing to import.
        </p>
      ) : (
        <DifferenceTable {...differences} one={one} />
      )}
      <Actions upload={upload}>
        {count > 0 && (
          <button type="button" class="button primary" onClick={() => void applyImport(upload)}>
            Import {countOf(count, one)}
          </button>
        )}
      </Actions>
    </section>
  );
}

export function Count({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div class="card tile">
      <p class="small muted">{label}</p>
      <p class="stat">{formatCount(value)}</p>
    </div>
  );
}

interface ActionsProps {
  readonly upload: Upload;
  readonly children?: ComponentChildren;
}

function Actions({ upload, children }: ActionsProps) {
  return (
    <div class="row import-actions">
      {children}
      <button type="button" class="button" onClick={() => void checkAgain(upload)}>
        Check again
      </button>
      <button type="button" class="button quiet" onClick={resetImport}>
        Choose another file
      </button>
    </div>
  );
}
