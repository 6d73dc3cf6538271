import { useSignal } from "@preact/signals";
import { TextField } from "../parts/text-field.tsx";
import { formatCount } from "../texts/numbers.ts";
import { hasOwnLimits, planChoices, planTitle, scopeChoices } from "./terms.ts";

/** A name is at most this long. */
export const nameCharactersMax = 200;

export function NameField({ value = "" }: { readonly value?: string }) {
  return (
    <TextField
      name="name"
      label="Name"
      value={value}
      hint="Who or what uses the key. It appears beside every change made with it."
      lengthMax={nameCharactersMax}
      isRequired
    />
  );
}

interface TermsProps {
  readonly plan?: string;
  readonly limits?: { readonly perMinute: number; readonly perDay: number } | undefined;
  readonly scopes?: readonly string[];
}

/** Plan, limits and scopes of an API key. */
export function TermsFields({ plan = "free", limits, scopes }: TermsProps) {
  const chosen = useSignal(plan);
  return (
    <>
      <fieldset class="choices">
        <legend class="label">Plan</legend>
        {planChoices.map(({ name, limits: fixed }) => (
          <label key={name} class="choice">
            <input
              type="radio"
              name="plan"
              value={name}
              checked={chosen.value === name}
              onChange={() => {
                chosen.value = name;
              }}
            />
            <span class="choice-text">
              {planTitle(name)}
              <span class="muted small">
                {fixed
                  ? `${formatCount(fixed.perMinute)} a minute, ${formatCount(fixed.perDay)} a day`
                  : "limits that you choose"}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      {hasOwnLimits(chosen.value) && (
        <div class="limit-fields">
          <LimitField name="perMinute" label="Requests a minute" value={limits?.perMinute} />
          <LimitField name="perDay" label="Requests a day" value={limits?.perDay} />
        </div>
      )}
      <fieldset class="choices">
        <legend class="label">Scopes</legend>
        {scopeChoices.map(({ name, meaning }) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              class="checkbox"
              name="scopes"
              value={name}
              defaultChecked={scopes === undefined || scopes.includes(name)}
            />
            <span class="choice-text">
              {meaning} <code class="muted small">{name}</code>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

function LimitField(props: {
  readonly name: string;
  readonly label: string;
  readonly value: number | undefined;
}) {
  const { name, label, value } = props;
  return (
    <TextField name={name} label={label} value={value?.toString()} inputMode="numeric" isRequired />
  );
}
