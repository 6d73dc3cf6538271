import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../texts/formats.ts";
import type { Count } from "./count-storage.ts";

export interface Stop {
  readonly message: ComponentChildren;
  /** A count that is recorded if the person confirms it. */
  readonly doubted?: Count;
}

interface Props extends Stop {
  readonly record: (count: Count) => void;
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
      class="notice danger spread count-stop"
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
          <Button onClick={() => record(doubted)}>Record {formatCount(doubted.counted)}</Button>
        )}
        <Button onClick={dismiss}>
          {doubted === undefined ? "Go on" : "Count again"} <kbd class="kbd">Esc</kbd>
        </Button>
      </div>
    </div>
  );
}

let audio: AudioContext | undefined;

/** Two low tones, for people who look at the shelf and not at the screen. */
function playStopSound(): void {
  try {
    audio ??= new AudioContext();
    for (const startsAt of [0, 0.25]) {
      const tone = audio.createOscillator();
      tone.type = "square";
      tone.frequency.value = 220;
      const volume = audio.createGain();
      volume.gain.value = 0.2;
      tone.connect(volume).connect(audio.destination);
      tone.start(audio.currentTime + startsAt);
      tone.stop(audio.currentTime + startsAt + 0.15);
    }
  } catch {
    // A browser without sound still shows the message.
  }
}
