import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import type { View, ViewModule, ViewProps } from "../parts/view.ts";
import { ErrorBoundary } from "./error-boundary.tsx";

/** Loads the code of a view and shows it. */
export function ViewSlot({ view, rest, query }: ViewProps & { readonly view: View }) {
  const loaded = useSignal<ViewModule | undefined>(undefined);
  const isFailed = useSignal(false);
  useEffect(() => {
    view.load().then(
      (module) => {
        loaded.value = module;
      },
      () => {
        isFailed.value = true;
      },
    );
  }, [view, loaded, isFailed]);
  if (isFailed.value) return <NotLoaded />;
  if (!loaded.value) return <p class="loading">Loading…</p>;
  const Component = loaded.value.default;
  return (
    <ErrorBoundary>
      <Component rest={rest} query={query} />
    </ErrorBoundary>
  );
}

/**
 * After an upgrade of the service, the files of the earlier version are gone. Browsers remember that a
 * module could not be loaded, so only a reload helps.
 */
function NotLoaded() {
  return (
    <div class="empty" role="alert">
      <h1 class="view-title">This page could not be loaded</h1>
      <p>The connection failed, or the service was updated since you opened the console.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload the console
      </Button>
    </div>
  );
}
