import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface Props {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  /** Wider, for tables. */
  readonly isWide?: boolean;
}

/** A modal dialog. The browser keeps the focus inside it and gives it back afterwards. */
export function Dialog({ title, close, children, isWide = false }: Props) {
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
    element.querySelector<HTMLElement>("input, select, textarea")?.focus();
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
      aria-labelledby={id}
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
