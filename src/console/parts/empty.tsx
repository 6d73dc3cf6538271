import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

interface EmptyProps {
  readonly title: string;
  /** Why there is nothing, and what to do next. */
  readonly children?: ComponentChildren;
}

/** Stands where a list has no rows. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface NotLoadedProps {
  readonly title?: string;
  readonly message: string;
  readonly retry: () => void;
}

/** Says why something could not be loaded. */
export function NotLoaded({ title = "This could not be loaded", message, retry }: NotLoadedProps) {
  return (
    <div class="empty" role="alert">
      <h2>{title}</h2>
      <p>{message}</p>
      <Button kind="primary" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}
