import { useSignal } from "@preact/signals";
import { ShownError } from "../client/api.ts";
import { Select } from "../parts/choices.tsx";
import { dayAndTime } from "../texts/times.ts";

const dayMs = 86_400_000;
const periods = [
  ["never", "Never"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["date", "At a chosen time"],
] as const;

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
          value={choice.value}
          choose={(to) => (choice.value = to)}
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

/** The chosen time, null for never, or undefined for no change. */
export function readExpiry(form: FormData, now = Date.now()): string | null | undefined {
  const choice = String(form.get("expiry") ?? "never");
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
