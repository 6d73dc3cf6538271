import { formatBytes } from "../../domain/values/sizes.ts";
import { Button } from "../parts/button.tsx";
import { checkAgain, type Failure, resetImport } from "./state.ts";
import type { Upload } from "./upload.ts";

/** The progress of the upload, and then of the work in the service. */
export function Sending({ upload, part }: { readonly upload: Upload; readonly part: number }) {
  const { file, isDryRun } = upload;
  const isSent = part >= 1;
  const title = isDryRun ? "Checking" : "Importing";
  return (
    <section class="card stack" aria-label={title}>
      <p>
        {title} <FileName upload={upload} />
      </p>
      {/* Without a value it shows that the work goes on, but not how far it is. */}
      <progress
        class="meter"
        aria-label={isSent ? "The service is working" : "Upload"}
        {...(isSent ? {} : { max: 1, value: part })}
      />
      <div class="spread">
        <span class="small muted">
          {isSent
            ? "The service is working. Large files take a while."
            : `${formatBytes(file.size * part)} of ${formatBytes(file.size)} sent`}
        </span>
        <Button onClick={resetImport}>Cancel</Button>
      </div>
      {!isDryRun && (
        <p class="small muted">
          All rows are imported, or none. If you cancel at the last moment, check the file again to
          see whether it was imported.
        </p>
      )}
    </section>
  );
}

export function FileName({ upload }: { readonly upload: Upload }) {
  const { file, what } = upload;
  return (
    <>
      <bdi class="mono">{file.name}</bdi>{" "}
      <span class="muted">
        ({what}, {formatBytes(file.size)})
      </span>
    </>
  );
}

export function Failed({ upload, message, isUncertain }: Failure) {
  return (
    <section class={`notice ${isUncertain ? "warning" : "danger"} stack`} role="alert">
      {isUncertain ? (
        <>
          <p>
            The connection was lost while <FileName upload={upload} /> was imported.
          </p>
          <p>
            All rows were imported, or none. Check the file again: if it was imported, there are no
            differences left.
          </p>
        </>
      ) : (
        <>
          <p>
            {upload.isDryRun ? "The file could not be checked" : "Nothing was imported"}:{" "}
            <FileName upload={upload} />
          </p>
          <p>{message}</p>
        </>
      )}
      <div class="row">
        <Button kind="primary" onClick={() => checkAgain(upload)}>
          Check the file again
        </Button>
        <Button onClick={resetImport}>Choose another file</Button>
      </div>
    </section>
  );
}
