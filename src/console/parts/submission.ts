import { type Signal, useSignal } from "@preact/signals";
import type { TargetedSubmitEvent } from "preact";
import { messageOf } from "../client/api.ts";

export interface Submission {
  readonly isBusy: Signal<boolean>;
  /** Why the last attempt failed, or an empty text. */
  readonly error: Signal<string>;
  /** Runs `work` unless an earlier one is still running. Shows why it failed. */
  readonly run: (work: () => Promise<void>) => Promise<void>;
}

/** The state of a form or a button that sends a request. */
export function useSubmission(): Submission {
  const isBusy = useSignal(false);
  const error = useSignal("");
  const run = async (work: () => Promise<void>) => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    error.value = "";
    try {
      await work();
    } catch (failure) {
      error.value = messageOf(failure);
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy, error, run };
}

/** Hands what a form contains to `submit`. The browser itself sends nothing. */
export function takeForm(submit: (form: FormData) => unknown) {
  return (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    void submit(new FormData(event.currentTarget));
  };
}
