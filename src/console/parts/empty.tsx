import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

interface EmptyProps {
  readonly title: string;
  /** Why there is nothing, and what to do next. */
  readonly children?: ComponentChildren;
  /** True if it stands for a whole page. */
  readonly isPage?: boolean;
  /** True if screen readers say it at once. */
  readonly isAlert?: boolean;
}

/** Stands where a list has no rows, or where a page cannot be shown. */
export function Empty({ title, children, isPage = false, isAlert = false }: EmptyProps) {
  return (
    <div class="empty" role={isAlert ? "alert" : undefined}>
      {isPage ? <h1 class="view-title">{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

interface NotLoadedProps {
  readonly title: string;
  readonly message: string;
  readonly retry: () => void;
}

/** Says why something could not be loaded. */
export function NotLoaded({ title, message, retry }: NotLoadedProps) {
  return (
    <Empty title={title} isAlert>
      <p>{message}</p>
      <Button kind="primary" onClick={retry}>
        Try again
      </Button>
    </Empty>
  );
}
