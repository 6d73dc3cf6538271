import { Component, type ComponentChildren } from "preact";
import { Button } from "../parts/button.tsx";
import { useLoaded } from "../parts/loaded.tsx";
import type { View, ViewProps } from "../parts/view.ts";

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
    <div class="empty" role="alert">
      <h1 class="view-title">This page could not be loaded</h1>
      <p>The connection failed, or the service was updated since you opened the console.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload the console
      </Button>
    </div>
  );
}

interface ErrorBoundaryProps {
  readonly children: ComponentChildren;
}

/** Keeps the frame usable if a view has a bug. */
class ErrorBoundary extends Component<ErrorBoundaryProps, { isBroken: boolean }> {
  override state = { isBroken: false };

  static override getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render() {
    if (!this.state.isBroken) return this.props.children;
    return (
      <div class="empty" role="alert">
        <h1 class="view-title">This page has a problem</h1>
        <p>What you saved is safe. Show the page again, or open another one.</p>
        <Button kind="primary" onClick={() => this.setState({ isBroken: false })}>
          Show the page again
        </Button>
      </div>
    );
  }
}
