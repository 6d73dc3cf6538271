import { Button, LinkButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Counts } from "./checked.tsx";
import { FileName } from "./progress.tsx";
import { type Done, resetImport } from "./state.ts";

/** What was imported, and where to see it. */
export function Imported({ upload, result }: Done) {
  const isPets = upload.what === "pets";
  return (
    <section class="stack" aria-label="Result">
      <p class="notice success row">
        <Icon name="check" />
        <span>
          <FileName upload={upload} /> has been imported.
        </span>
      </p>
      <Counts {...result} />
      <div class="row">
        <LinkButton kind="primary" to={isPets ? "/stock" : "/orders"}>
          {isPets ? "Open the stock" : "Open the orders"}
        </LinkButton>
        {isPets && <LinkButton to="/activity?cause=import">See the changes</LinkButton>}
        <Button kind="quiet" onClick={resetImport}>
          Import another file
        </Button>
      </div>
    </section>
  );
}
