import { useSignal } from "@preact/signals";
import { isPlan, limitMax, type Plan, planNames, plans } from "../../domain/limits/plans.ts";
import { nameCharactersMax } from "../../domain/values/texts.ts";
import { dayMs } from "../../domain/values/times.ts";
import { ShownError } from "../client/api.ts";
import type { Key, KeyChange, NewKey, NewKeyScopes, OperatorRole } from "../client/types.ts";
import { ChoiceList, keptIn, Select } from "../parts/choices.tsx";
import { TextField } from "../parts/fields.tsx";
import { dayAndTime } from "../texts/times.ts";
import { hasOwnLimits, limitsText, planTitle, roleChoices, scopeMeanings } from "./terms.ts";

const periods = [
  ["never", "Never"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["date", "At a chosen time"],
] as const;

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

const planChoices = planNames.map((name) => {
  const limits = plans[name];
  return [name, planTitle(name), limits ? limitsText(limits) : "limits that you choose"] as const;
});

export function RoleField({ value }: { readonly value: string | null }) {
  const isChosen = (name: string) => name === value;
  return (
    <ChoiceList legend="Role" type="radio" name="role" choices={roleChoices} isChosen={isChosen} />
  );
}

interface TermsProps extends Partial<Pick<Key, "limits">> {
  readonly plan?: Plan;
  readonly scopes?: readonly string[];
}

/** Plan, limits and scopes of an API key. */
export function TermsFields({ plan = "free", limits, scopes }: TermsProps) {
  const chosen = useSignal(plan);
  return (
    <>
      <ChoiceList
        legend="Plan"
        type="radio"
        name="plan"
        choices={planChoices}
        isChosen={(name) => name === plan}
        choose={(name) => (chosen.value = name)}
      />
      {hasOwnLimits(chosen.value) && (
        <div class="row pair">
          <LimitField name="perMinute" label="Requests a minute" value={limits?.perMinute} />
          <LimitField name="perDay" label="Requests a day" value={limits?.perDay} />
        </div>
      )}
      <ChoiceList
        legend="Scopes"
        type="checkbox"
        name="scopes"
        choices={Object.entries(scopeMeanings).map(([name, meaning]) => [
          name,
          meaning,
          <code>{name}</code>,
        ])}
        isChosen={(name) => scopes?.includes(name) ?? true}
      />
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

/** When a key ends. `current` is the time it has now; undefined for a new key. */
export function ExpiryField({ current }: { readonly current?: string | null | undefined }) {
  const choice = useSignal<string>(current ? "keep" : "never");
  return (
    <div class="field">
      <label for="key-expiry">Expires</label>
      <div class="row">
        <Select
          id="key-expiry"
          name="expiry"
          choices={[
            ...(current ? [["keep", dayAndTime(Date.parse(current))] as const] : []),
            ...periods,
          ]}
          {...keptIn(choice)}
        />
        {choice.value === "date" && (
          <input
            class="input expiry-time"
            type="datetime-local"
            name="expiresAt"
            aria-label="Time at which the key expires"
            required
          />
        )}
      </div>
    </div>
  );
}

/** Reads the form of a key. Throws an error for the person if something is wrong with it. */
export function readKeyForm(form: FormData, isOperator: boolean): NewKey {
  const name = String(form.get("name") ?? "").trim();
  if (name === "") throw new ShownError("Enter a name for the key.");
  const expiresAt = readExpiry(form);
  return {
    name,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(isOperator ? readRole(form) : readTerms(form)),
  };
}

/** The form of one's own key has no role, so that nobody locks themselves out. */
function readRole(form: FormData): KeyChange {
  const role = form.get("role") as OperatorRole | null;
  return role === null ? {} : { role };
}

function readTerms(form: FormData): KeyChange {
  const plan = String(form.get("plan"));
  if (!isPlan(plan)) throw new ShownError("Choose a plan.");
  const limits = hasOwnLimits(plan)
    ? { perMinute: readLimit(form, "perMinute"), perDay: readLimit(form, "perDay") }
    : {};
  const scopes = form.getAll("scopes") as NewKeyScopes[];
  if (scopes.length === 0) throw new ShownError("Choose at least one scope.");
  return { plan, ...limits, scopes };
}

function readLimit(form: FormData, name: string): number {
  const digits = String(form.get(name) ?? "").replace(/[\s,]/g, "");
  const number = /^\d+$/.test(digits) ? Number(digits) : 0;
  if (number >= 1 && number <= limitMax) return number;
  throw new ShownError("Enter both limits as whole numbers, 1 or more.");
}

/** The chosen time, null for never, or undefined for no change. */
function readExpiry(form: FormData): string | null | undefined {
  const choice = String(form.get("expiry"));
  const now = Date.now();
  if (choice === "keep") return undefined;
  if (choice === "never") return null;
  if (choice !== "date") return new Date(now + Number(choice) * dayMs).toISOString();
  // Without a time zone, the browser reads the text as local time, as it shows it.
  const at = Date.parse(String(form.get("expiresAt") ?? ""));
  if (Number.isNaN(at)) {
    throw new ShownError("Choose the day and the time at which the key expires.");
  }
  if (at <= now) throw new ShownError("The key must expire in the future.");
  return new Date(at).toISOString();
}
