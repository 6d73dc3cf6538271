import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, Ref, TargetedSubmitEvent } from "preact";
import { useId } from "preact/hooks";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { messageOf } from "../client/api.ts";
import { Icon } from "./icon.tsx";
import { barcodeField } from "./scanner.ts";

interface Props {
  /** The name in the form's data. */
  readonly name: string;
  readonly label: ComponentChildren;
  /** The initial value or, with `change`, the current one. */
  readonly value?: string | undefined;
  readonly change?: (text: string) => void;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly inputMode?: "text" | "numeric" | "url";
  readonly isRequired?: boolean;
  readonly lengthMax?: number;
  /** With more than one row, the text can have several lines. */
  readonly rows?: number;
  /** True if a scan becomes its text. */
  readonly isBarcode?: boolean;
}

/** A text in a form, with its label and a hint. */
export function TextField(props: Props) {
  const { name, label, value = "", hint, placeholder, inputMode, isRequired, lengthMax } = props;
  const { rows = 1, isBarcode = false, change } = props;
  const id = useId();
  const hintId = `${id}-hint`;
  const field = {
    id,
    name,
    class: "input",
    placeholder,
    required: isRequired,
    maxLength: lengthMax,
    "aria-describedby": hint && hintId,
    ...(change ? { value } : { defaultValue: value }),
    onInput: (event: InputEvent) => change?.((event.target as HTMLInputElement).value),
    ...(isBarcode && barcodeField),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === 1 ? (
        <input {...field} autocomplete="off" inputMode={inputMode} />
      ) : (
        <textarea {...field} rows={rows} />
      )}
      {hint && (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface ErrorProps {
  readonly id?: string;
  /** Empty if there is none. */
  readonly children: ComponentChildren;
}

/** What is wrong with a field or a form. Screen readers say it when it appears. */
export function FieldError({ id, children }: ErrorProps) {
  return (
    <p class="field-error" id={id} role="alert">
      {children}
    </p>
  );
}

const reasonLabel = "Reason (optional)";

// Browsers count UTF-16 units, the API code points. A text never has more code points than units.

/** Why something is changed, in a form. */
export function ReasonField(props: Partial<Pick<InputProps, "value" | "change">>) {
  return <TextField name="reason" label={reasonLabel} lengthMax={reasonCharactersMax} {...props} />;
}

interface InputProps {
  readonly value: string;
  readonly change: (reason: string) => void;
  readonly class?: string;
  readonly isDisabled?: boolean;
  /** What is asked for instead of a reason. */
  readonly label?: string;
  readonly lengthMax?: number;
}

/** The same without a label beside it. */
export function ReasonInput({ value, change, isDisabled = false, ...props }: InputProps) {
  const { class: kind = "", label = reasonLabel, lengthMax = reasonCharactersMax } = props;
  return (
    <input
      class={`input ${kind}`}
      placeholder={label}
      aria-label={label}
      maxLength={lengthMax}
      autocomplete="off"
      value={value}
      disabled={isDisabled}
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}

interface Submission {
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

interface SearchProps {
  /** For screen readers and, unless there is another placeholder, in the empty field. */
  readonly label: string;
  readonly placeholder?: string;
  readonly text: Signal<string>;
  readonly field?: Ref<HTMLInputElement>;
}

/** Finds something while the person types. */
export function SearchField({ label, placeholder = label, text, field = null }: SearchProps) {
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={placeholder}
        maxLength={500}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    </div>
  );
}
