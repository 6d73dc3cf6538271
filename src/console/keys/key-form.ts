import { readExpiry } from "./expiry-field.tsx";
import { hasOwnLimits, scopeChoices } from "./terms.ts";

/** What a form says about a key, as the operator API takes it. */
export interface KeyInput {
  name: string;
  kind?: "operator";
  plan?: string;
  perMinute?: number;
  perDay?: number;
  scopes?: readonly string[];
  expiresAt?: string | null;
}

export type KeyReading = { readonly input: KeyInput } | { readonly error: string };

/** Reads the form of a key, or says what is wrong with it. */
export function readKeyForm(form: FormData, isOperator: boolean): KeyReading {
  const name = String(form.get("name") ?? "").trim();
  if (name === "") return { error: "Enter a name for the key." };
  const input: KeyInput = { name };
  const expiry = readExpiry(form);
  if ("error" in expiry) return expiry;
  if (expiry.value !== undefined) input.expiresAt = expiry.value;
  return isOperator ? { input } : readTerms(form, input);
}

function readTerms(form: FormData, input: KeyInput): KeyReading {
  const plan = String(form.get("plan"));
  input.plan = plan;
  if (hasOwnLimits(plan)) {
    const perMinute = readLimit(form.get("perMinute"));
    const perDay = readLimit(form.get("perDay"));
    if (perMinute === undefined || perDay === undefined) {
      return { error: "Enter both limits as whole numbers, 1 or more." };
    }
    Object.assign(input, { perMinute, perDay });
  }
  const chosen = form.getAll("scopes");
  input.scopes = scopeChoices.map(({ name }) => name).filter((name) => chosen.includes(name));
  if (input.scopes.length === 0) return { error: "Choose at least one scope." };
  return { input };
}

const limitMax = 999_999_999_999;

function readLimit(value: FormDataEntryValue | null): number | undefined {
  const digits = String(value ?? "").replace(/[\s,]/g, "");
  const number = /^\d+$/.test(digits) ? Number(digits) : 0;
  return number >= 1 && number <= limitMax ? number : undefined;
}
