import { formatBytes } from "../../domain/values/sizes.ts";
import { petChangeFields } from "../client/types.ts";
import { Time } from "../parts/time.tsx";
import { changeNumber, formatCount } from "../texts/formats.ts";

/** Fields whose numbers are times in milliseconds since 1970. */
const times = new Set(["expiresAt", "oldValidUntil"]);

/** Fields whose numbers are those of changes. */
const changes = new Set(["from", "seq"]);

/** The words for fields whose names do not say enough. */
const labels: Readonly<Record<string, string>> = {
  bytes: "size",
  from: "from change",
  oldValidUntil: "the old one works until",
  ...Object.fromEntries(petChangeFields.map(({ name, label }) => [name, uncapitalized(label)])),
  seq: "up to change",
  url: "URL",
};

/** "Photo URLs" becomes "photo URLs". */
function uncapitalized(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}

interface Props {
  readonly details: Readonly<Record<string, unknown>>;
  /** Fields that are shown elsewhere. */
  readonly hidden: readonly string[];
}

/** What was changed, field by field. */
export function Details({ details, hidden }: Props) {
  const fields = Object.entries(details)
    .filter(([name]) => !hidden.includes(name))
    .flatMap(([name, value]) => fieldsOf(name, value));
  if (fields.length === 0) return null;
  return (
    <ul class="row audit-details">
      {fields.map(([name, value]) => (
        <li key={name}>
          <span class="muted">{labels[name] ?? wordsOf(name)}</span>{" "}
          <Value name={name} value={value} />
        </li>
      ))}
    </ul>
  );
}

/** An object is shown as its own fields: the limits of a key, for example. */
function fieldsOf(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) && !isReplaced(value) ? Object.entries(value) : [[name, value]];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for an old and a new value, as a change of a pet has them. */
function isReplaced(value: Readonly<Record<string, unknown>>): boolean {
  return "from" in value && "to" in value;
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (isObject(value) && isReplaced(value)) {
    return (
      <>
        <Value name={name} value={value.from} /> <span class="muted">→</span>{" "}
        <Value name={name} value={value.to} />
      </>
    );
  }
  if (value === null) return <>{times.has(name) ? "never" : "none"}</>;
  if (typeof value === "number") return <NumberValue name={name} value={value} />;
  if (Array.isArray(value)) return <bdi>{value.map(textOf).join(", ") || "none"}</bdi>;
  return <bdi>{textOf(value)}</bdi>;
}

function NumberValue({ name, value }: { readonly name: string; readonly value: number }) {
  if (times.has(name)) return <Time at={new Date(value).toISOString()} />;
  if (changes.has(name)) return <>{changeNumber(value)}</>;
  return <>{name === "bytes" ? formatBytes(value) : formatCount(value)}</>;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** "perMinute" becomes "per minute". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
