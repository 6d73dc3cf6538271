import { Component, type ComponentChildren } from "preact";
import { Button } from "../parts/button.tsx";

interface Props {
  readonly children: ComponentChildren;
}

/** Keeps the frame usable if a view has a bug. */
export class ErrorBoundary extends Component<Props, { isBroken: boolean }> {
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
