import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  /** The name in the form's data. */
  readonly name: string;
  readonly label: ComponentChildren;
  /** The value at first. */
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly inputMode?: "text" | "numeric" | "url";
  readonly isRequired?: boolean;
  readonly lengthMax?: number;
}

/** A line of text in a form, with its label and a hint. */
export function TextField(props: Props) {
  const { name, label, value = "", hint, placeholder, inputMode, isRequired, lengthMax } = props;
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        class="input"
        autocomplete="off"
        placeholder={placeholder}
        inputMode={inputMode}
        required={isRequired}
        maxLength={lengthMax}
        aria-describedby={hint && hintId}
        defaultValue={value}
      />
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
