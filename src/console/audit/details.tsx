import { formatCount } from "../parts/numbers.ts";
import { Time } from "../parts/time.tsx";

/** Fields whose numbers are times in milliseconds since 1970. */
const times = new Set(["expiresAt", "oldValidUntil"]);

/** What was changed, field by field. */
export function Details({ details }: { readonly details: Readonly<Record<string, unknown>> }) {
  const fields = Object.entries(details)
    .flatMap(([name, value]) => flatten(name, value))
    .filter(([, value]) => value !== undefined);
  if (fields.length === 0) return null;
  return (
    <ul class="audit-details">
      {fields.map(([name, value]) => (
        <li key={name}>
          <span class="muted">{wordsOf(name)}</span> <Value name={name} value={value} />
        </li>
      ))}
    </ul>
  );
}

/** Fields of an object inside become fields of their own. */
function flatten(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[name, value]];
  return Object.entries(value);
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === null) return <>{times.has(name) ? "never" : "none"}</>;
  if (times.has(name) && typeof value === "number") {
    return <Time at={new Date(value).toISOString()} />;
  }
  if (Array.isArray(value)) return <bdi>{value.map(String).join(", ") || "none"}</bdi>;
  if (typeof value === "number") return <>{formatCount(value)}</>;
  return <bdi>{typeof value === "string" ? value : JSON.stringify(value)}</bdi>;
}

/** "oldValidUntil" becomes "old valid until". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
