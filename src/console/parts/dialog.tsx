import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface Props {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Wider, for tables. */
  readonly isWide?: boolean;
  /** True if it has to be read before a key does anything: then no button has the focus. */
  readonly isQuestion?: boolean;
}

/** A modal dialog. The browser keeps the focus inside it and gives it back afterwards. */
export function Dialog({ title, close, children, isWide = false, isQuestion = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const latestClose = useRef(close);
  latestClose.current = close;
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current!;
    const before = document.activeElement;
    // Browsers close a dialog at the second Escape, whatever the page says.
    const reopen = () => {
      element.showModal();
      latestClose.current();
    };
    element.showModal();
    // The browser would focus the button that closes the dialog, because it comes first.
    const first = element.querySelector<HTMLElement>("input, select, textarea");
    (isQuestion ? element : first)?.focus();
    element.addEventListener("close", reopen);
    return () => {
      element.removeEventListener("close", reopen);
      element.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${isWide ? "wide" : ""}`}
      role={isQuestion ? "alertdialog" : undefined}
      tabIndex={isQuestion ? -1 : undefined}
      aria-labelledby={id}
      // The page has keys of its own, for example "/".
      onKeyDown={(event) => event.stopPropagation()}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <div class="spread dialog-head">
        <h2 class="dialog-title" id={id}>
          {title}
        </h2>
        <Button kind="quiet" isSmall icon="close" label="Close" onClick={close} />
      </div>
      {children}
    </dialog>
  );
}
