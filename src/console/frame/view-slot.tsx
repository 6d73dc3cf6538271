import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { useLoaded } from "../parts/loaded.tsx";
import type { View, ViewProps } from "../parts/view.tsx";

/** Loads the code of a view and shows it. */
export function ViewSlot({ view, rest, query }: ViewProps & { readonly view: View }) {
  const state = useLoaded(view.load).state.value;
  if (state.kind === "failed") return <NotLoaded />;
  if (state.kind === "loading") return <p class="loading">Loading…</p>;
  const Shown = state.value.default;
  return (
    <ErrorBoundary>
      <Shown rest={rest} query={query} />
    </ErrorBoundary>
  );
}

/**
 * After an upgrade of the service, the files of the earlier version are gone. Browsers remember that a
 * module could not be loaded, so only a reload helps.
 */
function NotLoaded() {
  return (
    <Empty title="This page could not be loaded" isPage isAlert>
      <p>The connection failed, or the service was updated since you opened the console.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload the console
      </Button>
    </Empty>
  );
}

/** Keeps the frame usable if a view has a bug. */
function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, showAgain] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <Empty title="This page has a problem" isPage isAlert>
      <p>What you saved is safe. Show the page again, or open another one.</p>
      <Button kind="primary" onClick={showAgain}>
        Show the page again
      </Button>
    </Empty>
  );
}
