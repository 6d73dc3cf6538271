import { useSignal } from "@preact/signals";
import { type Plan, planNames, plans } from "../../domain/limits/plans.ts";
import type { Key, KeyLimits } from "../client/types.ts";
import { TextField } from "../parts/fields.tsx";
import { hasOwnLimits, limitsText, planTitle, scopeMeanings } from "./terms.ts";

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
  readonly plan?: Plan;
  readonly limits?: KeyLimits;
  readonly scopes?: Key["scopes"];
}

/** Plan, limits and scopes of an API key. */
export function TermsFields({ plan = "free", limits, scopes }: TermsProps) {
  const chosen = useSignal(plan);
  return (
    <>
      <fieldset class="choices">
        <legend class="label">Plan</legend>
        {planNames.map((name) => (
          <label key={name} class="choice">
            <input
              type="radio"
              name="plan"
              value={name}
              checked={chosen.value === name}
              onChange={() => (chosen.value = name)}
            />
            <span class="choice-text">
              {planTitle(name)}
              <span class="muted small">
                {plans[name] ? limitsText(plans[name]) : "limits that you choose"}
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
        {Object.entries(scopeMeanings).map(([name, meaning]) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              class="checkbox"
              name="scopes"
              value={name}
              defaultChecked={scopes === undefined || scopes.some((one) => one === name)}
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
