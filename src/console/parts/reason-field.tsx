import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { TextField } from "./fields.tsx";

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
