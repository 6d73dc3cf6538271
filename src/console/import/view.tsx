import { useLayoutEffect } from "preact/hooks";
import { may } from "../client/session.ts";
import type { ViewProps } from "../parts/view.ts";
import { DropZone, FormatChoice } from "./drop-zone.tsx";
import { Exports } from "./exports.tsx";
import { Failed, Sending } from "./progress.tsx";
import { Checked, Imported } from "./results.tsx";
import { importKind, importState } from "./state.ts";

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
