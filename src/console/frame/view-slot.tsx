import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { View, ViewModule, ViewProps } from "../views.ts";
import { ErrorBoundary } from "./error-boundary.tsx";

/** Loads the code of a view and shows it. */
export function ViewSlot({ view, rest, query }: ViewProps & { readonly view: View }) {
  const loaded = useSignal<ViewModule | undefined>(undefined);
  const isFailed = useSignal(false);
  const load = () => {
    isFailed.value = false;
    view.load().then(
      (module) => {
        loaded.value = module;
      },
      () => {
        isFailed.value = true;
      },
    );
  };
  useEffect(load, [view]);
  if (isFailed.value) return <NotLoaded retry={load} />;
  if (!loaded.value) return <p class="loading">Loading…</p>;
  const Component = loaded.value.default;
  return (
    <ErrorBoundary>
      <Component rest={rest} query={query} />
    </ErrorBoundary>
  );
}

/** After an upgrade of the service, the files of the earlier version are gone. */
function NotLoaded({ retry }: { readonly retry: () => void }) {
  return (
    <div class="empty" role="alert">
      <h1 class="view-title">This page could not be loaded</h1>
      <p>The connection failed, or the service was updated since you opened the console.</p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => window.location.reload()}>
          Reload the console
        </button>
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </div>
    </div>
  );
}
