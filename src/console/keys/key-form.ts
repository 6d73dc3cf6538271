import { isPlan } from "../../domain/limits/plans.ts";
import { ShownError } from "../client/api.ts";
import type { KeyChange, NewKey, NewKeyScopes } from "../client/types.ts";
import { readExpiry } from "./expiry-field.tsx";
import { hasOwnLimits, scopeMeanings } from "./terms.ts";

/** Reads the form of a key. Throws an error for the person if something is wrong with it. */
export function readKeyForm(form: FormData, isOperator: boolean): NewKey {
  const name = String(form.get("name") ?? "").trim();
  if (name === "") throw new ShownError("Enter a name for the key.");
  const expiresAt = readExpiry(form);
  return {
    name,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(isOperator ? {} : readTerms(form)),
  };
}

function readTerms(form: FormData): KeyChange {
  const plan = String(form.get("plan"));
  if (!isPlan(plan)) throw new ShownError("Choose a plan.");
  const limits = hasOwnLimits(plan)
    ? { perMinute: readLimit(form, "perMinute"), perDay: readLimit(form, "perDay") }
    : {};
  const chosen = form.getAll("scopes");
  const scopes = Object.keys(scopeMeanings).filter((name) => chosen.includes(name));
  if (scopes.length === 0) throw new ShownError("Choose at least one scope.");
  return { plan, ...limits, scopes: scopes as NewKeyScopes[] };
}

const limitMax = 999_999_999_999;

function readLimit(form: FormData, name: string): number {
  const digits = String(form.get(name) ?? "").replace(/[\s,]/g, "");
  const number = /^\d+$/.test(digits) ? Number(digits) : 0;
  if (number >= 1 && number <= limitMax) return number;
  throw new ShownError("Enter both limits as whole numbers, 1 or more.");
}
