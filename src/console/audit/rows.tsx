import { formatBytes } from "../../domain/values/sizes.ts";
import { requestPage } from "../client/api.ts";
import { type AuditRow, petChangeFields } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { changeNumber, formatCount } from "../texts/formats.ts";
import { textOf } from "./actions.ts";

interface Props {
  readonly rows: readonly AuditRow[];
  /** Names of keys and webhooks, by id. */
  readonly names?: ReadonlyMap<string, string>;
  /** False on the page of the target itself. */
  readonly hasTarget?: boolean;
}

const noNames: ReadonlyMap<string, string> = new Map();

export function AuditRows({ rows, names = noNames, hasTarget = true }: Props) {
  const columns: readonly Column<AuditRow>[] = [
    { title: "When", class: "nowrap", cell: ({ at }) => <Time at={at} /> },
    { title: "Who", cell: (row) => <Who row={row} /> },
    { title: "Action", class: "audit-action nowrap", cell: ({ action }) => textOf(action) },
    ...(hasTarget
      ? [{ title: "Target", cell: (row: AuditRow) => <Target row={row} names={names} /> }]
      : []),
    {
      title: "Details",
      class: "small",
      cell: (row) => <Details details={row.details} hidden={hiddenFields(row)} />,
    },
  ];
  return <Table rows={rows} keyOf={({ seq }) => seq} columns={columns} />;
}

function Who({ row }: { readonly row: AuditRow }) {
  if (row.keyId === null) return <span class="muted nowrap">Command line</span>;
  return (
    <a href={hrefOf(`/keys/${row.keyId}`)} title={row.keyId}>
      <bdi>{row.keyName ?? row.keyId}</bdi>
    </a>
  );
}

/** For a new or removed thing, empty fields are not worth a line, and the name is beside it already. */
function hiddenFields({ action, details }: AuditRow): readonly string[] {
  if (!/\.(?:created|removed)$/.test(action)) return [];
  return ["name", ...Object.keys(details).filter((name) => details[name] === null)];
}

interface TargetProps {
  readonly row: AuditRow;
  readonly names: ReadonlyMap<string, string>;
}

/** A link, if what was changed has a page. */
function Target({ row: { action, target, details }, names }: TargetProps) {
  // Who signs in is in the row already.
  if (target === null || action.startsWith("session.")) return null;
  const path = pathOf(action, target);
  const name = names.get(target) ?? (typeof details.name === "string" ? details.name : undefined);
  const text = name === undefined ? <span class="mono small">{target}</span> : <bdi>{name}</bdi>;
  if (path === undefined) return <span title={target}>{text}</span>;
  return (
    <a href={hrefOf(path)} title={target}>
      {text}
    </a>
  );
}

function pathOf(action: string, target: string): string | undefined {
  if (target.startsWith("key_")) return `/keys/${target}`;
  if (target.startsWith("wh_") && action !== "webhook.removed") return `/webhooks/${target}`;
  return action.startsWith("pet.") ? `/stock/${target}` : undefined;
}

const rowsMax = 10;

/** The last rows of the audit log about one thing. */
export function AuditOfTarget({ target }: { readonly target: string }) {
  const source = useLoaded(
    (signal) => requestPage<AuditRow>(`/audit?target=${target}&limit=${rowsMax}`, signal),
    [target],
  );
  return (
    <WhenLoaded source={source}>
      {({ items, next }) => (
        <>
          {items.length > 0 ? (
            <AuditRows rows={items} hasTarget={false} />
          ) : (
            <p class="muted">{next ? "Nothing lately." : "Nothing yet."}</p>
          )}
          {next && <a href={hrefOf(`/audit?target=${target}`)}>Show all</a>}
        </>
      )}
    </WhenLoaded>
  );
}

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

interface DetailsProps {
  readonly details: Readonly<Record<string, unknown>>;
  /** Fields that are shown elsewhere. */
  readonly hidden: readonly string[];
}

/** What was changed, field by field. */
function Details({ details, hidden }: DetailsProps) {
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
  if (Array.isArray(value)) return <bdi>{value.map(textOfValue).join(", ") || "none"}</bdi>;
  return <bdi>{textOfValue(value)}</bdi>;
}

function NumberValue({ name, value }: { readonly name: string; readonly value: number }) {
  if (times.has(name)) return <Time at={new Date(value).toISOString()} />;
  if (changes.has(name)) return <>{changeNumber(value)}</>;
  return <>{name === "bytes" ? formatBytes(value) : formatCount(value)}</>;
}

function textOfValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** "perMinute" becomes "per minute". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
