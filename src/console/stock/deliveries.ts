import { computed, effect, signal } from "@preact/signals";
import { createIdempotencyKey, request } from "../client/api.ts";
import { session } from "../client/session.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { navigate } from "../page/router.ts";
import { countOf } from "../texts/formats.ts";
import { Sending } from "./batches.ts";
import { repeatMsMax } from "./count-storage.ts";
import { amountRule, parseAmount, parseLine } from "./delivery-lines.ts";
import { table } from "./state.ts";
import { foldCase } from "./table.ts";

/** What is recorded. A loss is taken away, the others are added. */
export const kinds = ["Delivery", "Return", "Loss"] as const;

const emptyDraft = () => ({
  /** The idempotency key. Another window that sends the same draft adds nothing. */
  key: createIdempotencyKey(),
  kind: "Delivery" as (typeof kinds)[number],
  reference: "",
  /** Amounts as they were typed. */
  rows: [] as readonly (readonly [petId: string, amount: string])[],
  /** Pasted lines that were not added, and why. */
  problems: [] as readonly string[],
  /** In milliseconds since 1970. 0 if it was not sent, or was refused. */
  sentAt: 0,
});
type Draft = Readonly<ReturnType<typeof emptyDraft>>;

/** The delivery, return or loss that is being put together. */
export const draft = signal<Draft>(emptyDraft());
export const sending = new Sending();
/** Why the draft was not recorded, and because of which pet. */
export const failure = signal({ message: "", petId: "" });
/** The pet whose amount is to get the focus. A new object for each scan. */
export const scanned = signal({ petId: "" });
/** What was scanned and is no pet. Scans are ignored until the person has seen it. */
export const unknownCode = signal("");
/** What was sent may be recorded. It stays as it is until the service says so. */
export const isSent = computed(() => draft.value.sentAt > 0);
export const sign = computed(() => (draft.value.kind === "Loss" ? -1 : 1));
export const total = computed(() => {
  const amounts = draft.value.rows.map(([, amount]) => parseAmount(amount) ?? 0);
  const pieces = amounts.reduce((sum, amount) => sum + amount, 0);
  return { kinds: amounts.filter((amount) => amount > 0).length, pieces };
});

export function changeDraft(fields: Partial<Omit<Draft, "key" | "sentAt">>): void {
  if (isSent.value) return;
  keep({ ...draft.value, ...fields });
  fail("");
}

export function setAmount(petId: string, amount: string): void {
  changeDraft({ rows: [...new Map(draft.value.rows).set(petId, amount)] });
}

function plus(amount: string | undefined, pieces: number): string {
  return String((parseAmount(amount ?? "") ?? 0) + pieces || "");
}

/** Adds rows without an amount, unless they are there. */
export function addRows(petIds: readonly string[]): void {
  const { rows } = draft.value;
  const added = petIds.map((petId) => [petId, ""] as const);
  // The first one says where a row is, the last one what its amount is.
  changeDraft({ rows: [...new Map([...rows, ...added, ...rows])] });
}

/** Adds one of the pet with this code, as a scan does. */
export function scan(code: string, row = table.value.findScanned(code)): void {
  if (row === undefined) {
    // The focus leaves its field, so that the next scan goes nowhere.
    (document.activeElement as HTMLElement).blur();
    unknownCode.value = code;
    return;
  }
  const petId = table.value.ids[row]!;
  const amount = plus(new Map(draft.value.rows).get(petId), 1);
  setAmount(petId, amount);
  scanned.value = { petId };
  announce(`${table.value.names[row]}: ${amount}`);
}

/** Adds the rows of a sheet, and lists what cannot be added. */
export function addLines(text: string): void {
  const { rowsById, foldedNames, isRemoved, ids } = table.value;
  const known = rowsById.filter((row) => !isRemoved[row]);
  const named = Map.groupBy(known, (row) => foldedNames[row]!);
  const amounts = new Map(draft.value.rows);
  const problems = [...draft.value.problems];
  for (const line of text.split(/[\r\n]+/).filter((one) => one.trim() !== "")) {
    const { code = "", pieces = 0 } = parseLine(line) ?? {};
    const row = table.value.findScanned(code);
    const rows = row === undefined ? (named.get(foldCase(code)) ?? []) : [row];
    const petId = ids[rows[0]!]!;
    if (rows.length === 1) amounts.set(petId, plus(amounts.get(petId), pieces));
    else if (code === "") problems.push(`${line}: not a pet and a whole number`);
    else problems.push(`${line}: ${rows.length || "no"} pets have this id, barcode or name`);
  }
  changeDraft({ rows: [...amounts], problems });
}

export function discardDraft(): void {
  const { value: discarded } = draft;
  keep(emptyDraft());
  fail("");
  showSuccess("Discarded", { label: "Undo", run: () => keep(discarded) });
}

/** Sends the draft as one batch, again after the connection was lost. It is never recorded twice. */
export async function recordDraft(event: Event): Promise<void> {
  event.preventDefault();
  const { key, kind, reference, rows, problems, sentAt } = draft.value;
  const wrong = rows.find(([, amount]) => parseAmount(amount) === undefined);
  if (wrong) return fail(amountRule, wrong[0]);
  if (isSent.value && Date.now() - sentAt > repeatMsMax) {
    keep({ ...draft.value, key: createIdempotencyKey(), sentAt: 0 });
    return fail("This was sent too long ago to be sent again. Discard it if Activity shows it.");
  }
  const reason = [kind, reference.trim()].filter(Boolean).join(": ");
  const changes = rows
    .map(([petId, amount]) => ({ petId, delta: sign.value * parseAmount(amount)!, reason }))
    .filter(({ delta }) => delta !== 0);
  const size = `${countOf(total.value.kinds, "kind")}, ${countOf(total.value.pieces, "piece")}`;
  fail("");
  keep({ ...draft.value, sentAt: sentAt || Date.now() });
  let seq = 0;
  const isRecorded = await sending.send([{ key, changes }], (_, [entry]) => {
    seq = entry!.version;
  });
  if (isRecorded) {
    keep({ ...emptyDraft(), kind, problems });
    // The ledger has the id of the first request, not of one that repeats it.
    const path = `/changes?after=${seq - 1}&limit=1`;
    const [row] = await request<readonly LedgerRow[]>(path).catch(() => []);
    const show = () => navigate(`/activity?request=${row?.requestId ?? ""}`);
    showSuccess(`${reason}. ${size}.`, { label: "Show in Activity", run: show });
  } else if (sending.error.value !== "") {
    // A refused draft can be corrected.
    if (sending.rest.value.length === 0) keep({ ...draft.value, sentAt: 0 });
    const { value: message } = sending.error;
    const [, petId, why] = /^Change \d+ \(pet (-?\d+)\): (.*)$/.exec(message) ?? [];
    fail(why?.replace(/^A delta .* negative\. .* (\d+)\.$/, "Only $1 in stock.") ?? message, petId);
  }
}

function fail(message: string, petId = ""): void {
  failure.value = { message, petId };
  if (petId !== "") scanned.value = { petId };
}

/** Every operator key has its own draft: the service knows a repeated request only by the same key. */
const storageName = computed(() => {
  const { value } = session;
  return `petstore-delivery-${value.kind === "in" ? value.session.operator.id : ""}`;
});

/** A reload, or a laptop that is closed, loses nothing. */
function keep(changed: Draft): void {
  draft.value = changed;
  try {
    window.localStorage.setItem(storageName.value, JSON.stringify(changed));
  } catch {
    // The draft is still on the page. Only a reload would lose it.
  }
}

function restore(): void {
  try {
    const text = window.localStorage.getItem(storageName.value);
    draft.value = { ...emptyDraft(), ...JSON.parse(text ?? "{}") };
  } catch {
    draft.value = emptyDraft();
  }
}

effect(restore);
// Another window of the same person has changed or recorded the draft.
window.addEventListener("storage", ({ key }) => key === storageName.value && restore());
