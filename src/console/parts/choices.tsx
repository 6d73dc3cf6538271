import type { Signal } from "@preact/signals";
import type { ComponentChildren, Ref } from "preact";
import { useId } from "preact/hooks";
import { formatCount } from "../texts/formats.ts";

export type Choices<Value extends string> = readonly (readonly [value: Value, text: string])[];

/** Choices with fixed texts. A text that looks like a number comes before all others, whatever the order here. */
export function choicesOf<Value extends string, Text>(texts: Readonly<Record<Value, Text>>) {
  return Object.entries(texts) as [Value, Text][];
}

/** A choice with the number of what it leads to. */
export const numbered = (text: string, number: number) => (
  <>
    {text} <span class="muted">{formatCount(number)}</span>
  </>
);

/** For one choice that a signal keeps. */
export const keptIn = <Value,>(chosen: Signal<Value>) => ({
  value: chosen.value,
  isChosen: (one: Value) => one === chosen.value,
  choose: (one: Value) => (chosen.value = one),
});

interface SelectProps<Value extends string> {
  readonly choices: Choices<Value>;
  /** The chosen value or, without `choose`, the initial one. */
  readonly value?: Value;
  readonly choose?: (value: Value) => void;
  readonly id?: string;
  readonly name?: string;
  readonly class?: string;
  /** For screen readers, if no label is beside it. */
  readonly label?: string;
  readonly isDisabled?: boolean;
  readonly field?: Ref<HTMLSelectElement>;
}

/** A list from which one value is chosen. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { choices, value, choose, id, name, label, isDisabled = false, field = null } = props;
  return (
    <select
      ref={field}
      id={id}
      name={name}
      class={`select ${props.class ?? ""}`}
      aria-label={label}
      disabled={isDisabled}
      value={choose && value}
      onChange={(event) => choose?.(event.currentTarget.value as Value)}
    >
      {choices.map(([one, text]) => (
        <option key={one} value={one} selected={!choose && one === value}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** The same in a form, with its label. */
export function SelectField<Value extends string>({ label, ...select }: SelectProps<Value>) {
  const id = useId();
  return (
    <div class="field">
      <label for={select.id ?? id}>{label}</label>
      <Select id={id} {...select} />
    </div>
  );
}

interface GroupProps<Value> {
  readonly label: string;
  readonly choices: readonly (readonly [value: Value, text: ComponentChildren])[];
  readonly isChosen: (value: Value) => boolean;
  readonly choose: (value: Value) => void;
  readonly class?: string;
}

/** Buttons that choose values: usually one, sometimes several. */
export function ButtonGroup<Value>(props: GroupProps<Value>) {
  const { label, choices, isChosen, choose } = props;
  return (
    <fieldset class={`button-group ${props.class ?? ""}`} aria-label={label}>
      {choices.map(([value, text]) => (
        <button
          type="button"
          key={String(value)}
          class="button small"
          aria-pressed={isChosen(value)}
          onClick={() => choose(value)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

type Choice<Value> = readonly [value: Value, text: ComponentChildren, hint?: ComponentChildren];

interface ListProps<Value> {
  readonly legend: string;
  readonly type: "radio" | "checkbox";
  /** The name in the form's data. */
  readonly name: string;
  readonly choices: readonly Choice<Value>[];
  /** Whether a value is chosen initially. */
  readonly isChosen?: (value: Value) => boolean;
  readonly choose?: (value: Value) => void;
}

/** Choices in a form, all of which are visible. */
export function ChoiceList<Value extends string>(props: ListProps<Value>) {
  const { legend, type, name, choices, isChosen, choose } = props;
  return (
    <fieldset class="choices">
      <legend class="label">{legend}</legend>
      {choices.map(([value, text, hint]) => (
        <label key={value} class="choice">
          <input
            class="checkbox"
            type={type}
            name={name}
            value={value}
            defaultChecked={isChosen?.(value) ?? false}
            onChange={() => choose?.(value)}
          />
          <span class="row choice-text">
            {text} {hint && <span class="muted small">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
