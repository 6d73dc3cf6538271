import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { onSignOut } from "../client/session.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface Question {
  readonly message: ComponentChildren;
  /** The text of the button that agrees. Undefined if there is nothing to agree to. */
  readonly yes: string | undefined;
  readonly answer: (isYes: boolean) => void;
}

const question = signal<Question | undefined>(undefined);

export function isAsking(): boolean {
  return question.peek() !== undefined;
}

/** Asks with a sound. An earlier question that is still open gets the answer no. */
export function ask(message: ComponentChildren, yes?: string): Promise<boolean> {
  question.peek()?.answer(false);
  playStopSound();
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      question.value = undefined;
      resolve(isYes);
    };
    question.value = { message, yes, answer };
  });
}

/** Stops the work with a sound until the person has seen why. */
export const stop = (message: ComponentChildren) => ask(message);

onSignOut(() => question.peek()?.answer(false));

/**
 * The question that is open. The dialog itself has the focus, and no button does: what is scanned or typed
 * meanwhile goes nowhere, and the Enter of a scanner confirms nothing.
 */
export function OpenQuestion() {
  if (question.value === undefined) return null;
  const { message, yes, answer } = question.value;
  const no = () => answer(false);
  return (
    <Dialog title={yes ? "Is this right?" : "Stopped"} close={no} isQuestion>
      <div class="stack question">
        <p class="notice danger">
          <strong>{message}</strong>
        </p>
        <p class="small">
          Nothing was recorded. Scans and keys are ignored until you {yes ? "decide" : "go on"}.
        </p>
        <div class="dialog-actions">
          {yes && <Button onClick={() => answer(true)}>{yes}</Button>}
          <Button onClick={no}>
            {yes ? "Correct it" : "Go on"} <kbd class="kbd">Esc</kbd>
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

let audio: AudioContext | undefined;

/** Two low tones, for people who look at the shelf and not at the screen. */
export function playStopSound(): void {
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
