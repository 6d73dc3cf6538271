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

interface OldProps {
  readonly children: ComponentChildren;
  readonly retry: () => unknown;
}

/** Says that the page shows an older state, and tries again. */
export function OldNotice({ children, retry }: OldProps) {
  return (
    <div class="notice warning connection-notice" role="status">
      <span>{children}</span>
      <Button isSmall onClick={retry}>
        Try now
      </Button>
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
