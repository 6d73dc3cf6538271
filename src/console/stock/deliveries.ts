import { computed, effect, signal } from "@preact/signals";
import { changesMax } from "../../domain/values/bounds.ts";
import { createIdempotencyKey, request } from "../client/api.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showError, showSuccess } from "../page/messages.ts";
import { navigate } from "../page/router.ts";
import { readStoredJson, store } from "../page/storage.ts";
import { stop } from "../parts/question.tsx";
import { countOf, formatCount } from "../texts/formats.ts";
import { Sending } from "./batches.ts";
import { counter } from "./counting.ts";
import { amountRule, parseAmount, parseLine } from "./delivery-lines.ts";
import { areMeant } from "./quantity-reader.tsx";
import { clearSelection, selected } from "./selection.ts";
import { current, petNameOf, table } from "./state.ts";
import { foldCase } from "./table.ts";

/** What is recorded. A loss is taken away, the others are added. */
export const kinds = ["Delivery", "Return", "Loss"] as const;

/** A pet, and its amount as it was typed. */
export type Line = readonly [petId: string, amount: string];

const emptyDraft = () => ({
  /** The idempotency key. Another window that sends the same draft adds nothing. */
  key: createIdempotencyKey(),
  kind: "Delivery" as (typeof kinds)[number],
  reference: "",
  lines: [] as readonly Line[],
  /** Pasted lines that were not added. */
  problems: [] as readonly string[],
  /** In milliseconds since 1970. 0 if it was not sent, or was refused. */
  sentAt: 0,
});
type Draft = Readonly<ReturnType<typeof emptyDraft>>;

/** The delivery, return or loss that is being put together. */
export const draft = signal<Draft>(emptyDraft());
export const sending = new Sending();
/** The pet that was scanned last, until an amount is set or its line is gone. */
export const added = signal("");
/** The draft was sent and may be recorded. It stays unchanged until the service confirms that. */
export const isSent = computed(() => draft.value.sentAt > 0);

export function changeDraft(fields: Partial<Omit<Draft, "key" | "sentAt">>): void {
  if (isSent.value) void stop(`Send the ${draft.value.kind.toLowerCase()} first.`);
  else {
    keep({ ...draft.value, ...fields });
    sending.clear();
  }
}

/** What a line adds to what is in stock now, and why that cannot be recorded. */
export function resultOf([petId, amount]: Line) {
  const { entries } = current.value;
  const row = entries.findRow(petId) ?? -1;
  const { [row]: name = petId } = entries.names;
  const { [row]: now = 0 } = entries.quantities;
  const pieces = parseAmount(amount);
  const delta = (draft.value.kind === "Loss" ? -1 : 1) * (pieces ?? 0);
  const shortage = now + delta < 0 ? `Only ${formatCount(now)} in stock.` : "";
  return { name, now, delta, fault: pieces === undefined ? amountRule : shortage };
}

export function setAmount(petId: string, amount: string): void {
  changeDraft({ lines: [...new Map(draft.value.lines).set(petId, amount)] });
  added.value = "";
}

function plus(amount: string | undefined, pieces: number): string {
  return String((parseAmount(amount ?? "") ?? 0) + pieces || "");
}

/** Adds the selected pets without an amount, unless they are there. */
export function addSelected(): void {
  const { lines } = draft.value;
  const chosen = [...selected.value].reverse().map((row) => [table.value.ids[row]!, ""] as const);
  if (chosen.length === 0 || chosen.length > changesMax) return;
  // The first one says where a line is, the last one what its amount is.
  changeDraft({ lines: [...new Map([...lines, ...chosen, ...lines])] });
  if (!isSent.value) clearSelection();
}

export function addOne(row: number): void {
  const petId = table.value.ids[row]!;
  const amount = plus(new Map(draft.value.lines).get(petId), 1);
  setAmount(petId, amount);
  if (isSent.value) return;
  added.value = petId;
  announce(`${table.value.names[row]}: ${amount}`);
}

/** Adds the rows of a sheet, and lists what cannot be added. Other texts go into the field. */
export function paste(event: ClipboardEvent): void {
  const text = event.clipboardData?.getData("text") ?? "";
  const pasted = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  if (pasted.length < 2 && !parseLine(text)) return;
  event.preventDefault();
  if (pasted.length > changesMax) {
    showError("Paste at most 1,000 lines at a time, or import the file.");
    return;
  }
  const { rowsById, foldedNames, isRemoved, ids } = table.value;
  const named = Map.groupBy(rowsById, (row) => (isRemoved[row] ? undefined : foldedNames[row]!));
  const amounts = new Map(draft.value.lines);
  const problems = [...draft.value.problems];
  for (const [index, line] of pasted.entries()) {
    const { code = "", pieces = 0 } = parseLine(line) ?? {};
    const row = table.value.findScanned(code);
    const rows = row === undefined ? (named.get(foldCase(code)) ?? []) : [row];
    const petId = ids[rows[0]!]!;
    if (rows.length === 1) amounts.set(petId, plus(amounts.get(petId), pieces));
    // The first line of a sheet may be its header.
    else if (index > 0 || /\d/.test(line)) problems.push(line);
  }
  changeDraft({ lines: [...amounts], problems });
}

export function discardDraft(): void {
  const { value: discarded } = draft;
  keep(emptyDraft());
  sending.clear();
  showSuccess("Discarded", { label: "Undo", run: () => keep(discarded) });
}

/** After a day or more, the service forgets a draft that was sent, and would record it a second time. */
const repeatMsMax = 12 * 3_600_000;

/** Sends the draft as one batch, again after the connection was lost. It is never recorded twice. */
export async function recordDraft(): Promise<void> {
  const { value: asked } = draft;
  const typed = asked.lines.map(([petId, text]) => ({ petId, name: petNameOf(petId), text }));
  // A draft that was sent is repeated unchanged. Another window may change it while the question is open.
  if (!isSent.value && !((await areMeant(typed)) && draft.value === asked)) return;
  const { key, kind, reference, lines, problems, sentAt } = asked;
  if (isSent.value && Date.now() - sentAt > repeatMsMax) {
    keep({ ...draft.value, key: createIdempotencyKey(), sentAt: 0 });
    sending.error.value =
      "This was sent too long ago to be sent again. Discard it if Activity shows it.";
    return;
  }
  const reason = [kind, reference.trim()].filter(Boolean).join(": ");
  const changes = lines
    .map((line) => ({ petId: line[0], delta: resultOf(line).delta, reason }))
    .filter(({ delta }) => delta !== 0);
  keep({ ...draft.value, sentAt: sentAt || Date.now() });
  let seq = 0;
  const isRecorded = await sending.send([{ key, changes }], (_, [entry]) => {
    seq = entry!.version;
  });
  if (isRecorded) {
    keep({ ...emptyDraft(), problems });
    // The ledger has the id of the first request, not of one that repeats it.
    const path = `/changes?after=${seq - 1}&limit=1`;
    const [row] = await request<readonly LedgerRow[]>(path).catch(() => []);
    const run = () => navigate(`/activity?request=${row?.requestId ?? ""}`);
    const done = `${reason}. ${countOf(changes.length, "kind")}.`;
    showSuccess(done, { label: "Show in Activity", run });
    // A refused draft can be corrected.
  } else if (sending.rest.value.length === 0) keep({ ...draft.value, sentAt: 0 });
}

/** Every operator key has its own draft: the service knows a repeated request only by the same key. */
const storageName = computed(() => `petstore-delivery-${counter.value}`);

/** A reload, or a laptop that is closed, loses nothing. */
function keep(changed: Draft): void {
  draft.value = changed;
  if (!new Map(changed.lines).has(added.value)) added.value = "";
  store(storageName.value, JSON.stringify(changed));
}

function restore(): void {
  added.value = "";
  draft.value = { ...emptyDraft(), ...readStoredJson<Draft>(storageName.value) };
}

effect(restore);
// Another window of the same person has changed or recorded the draft.
window.addEventListener("storage", ({ key }) => key === storageName.value && restore());
