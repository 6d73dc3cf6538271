import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount } from "../texts/numbers.ts";
import { playStopSound } from "./stop-sound.ts";

export interface Stop {
  readonly message: ComponentChildren;
  /** A count that is recorded if the person confirms it. */
  readonly doubted?: number;
}

interface Props extends Stop {
  readonly record: (counted: number) => void;
  readonly dismiss: () => void;
}

/**
 * Stops the count until the person has seen why. It has the focus, and no button does: what is scanned
 * or typed meanwhile goes nowhere, and the Enter of a scanner confirms nothing.
 */
export function CountStop({ message, doubted, record, dismiss }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    playStopSound();
    // A pet can be removed by others while the person works in another part of the page.
    if (document.activeElement?.matches("body, .count-panel *")) box.current?.focus();
  }, []);
  return (
    <div
      ref={box}
      class="notice danger count-stop"
      role="alertdialog"
      tabIndex={-1}
      aria-labelledby="count-stop-message"
      aria-describedby="count-stop-hint"
      onKeyDown={(event) => {
        // The page has keys of its own, for example "/".
        event.stopPropagation();
        if (event.key === "Escape") dismiss();
      }}
    >
      <div>
        <p id="count-stop-message">
          <strong>{message}</strong>
        </p>
        <p class="small" id="count-stop-hint">
          Nothing was recorded. Scans and keys are ignored until you{" "}
          {doubted === undefined ? "go on" : "decide"}.
        </p>
      </div>
      <div class="row">
        {doubted !== undefined && (
          <button type="button" class="button" onClick={() => record(doubted)}>
            Record {formatCount(doubted)}
          </button>
        )}
        <button type="button" class="button" onClick={dismiss}>
          {doubted === undefined ? "Go on" : "Count again"} <kbd class="kbd">Esc</kbd>
        </button>
      </div>
    </div>
  );
}
