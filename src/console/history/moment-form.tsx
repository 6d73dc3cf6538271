import { useSignal } from "@preact/signals";
import { navigate } from "../page/router.ts";
import { localInputValue, readLocalInput } from "../texts/local-time.ts";

const hourMs = 3_600_000;
const shortcuts = [
  ["An hour ago", hourMs],
  ["A day ago", 24 * hourMs],
  ["A week ago", 168 * hourMs],
] as const;

/** Lets the person choose a moment: a time, or the number of a change. */
export function MomentForm({ at }: { readonly at: string }) {
  const kind = useSignal<"time" | "change">(/^\d+$/.test(at) ? "change" : "time");
  const isTime = kind.value === "time";
  const open = (moment: string) => navigate(`/history/moment?at=${encodeURIComponent(moment)}`);
  const submit = (event: Event) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const text = String(data.get("moment") ?? "").trim();
    const moment = isTime ? readLocalInput(text) : text.replace("#", "");
    if (moment !== "") open(moment);
  };
  return (
    <form class="filter-bar moment-form" onSubmit={submit}>
      <div class="field">
        <label for="moment-kind">Show the inventory</label>
        <select
          id="moment-kind"
          class="select"
          value={kind.value}
          onChange={(event) => {
            kind.value = event.currentTarget.value as "time" | "change";
          }}
        >
          <option value="time">at a time</option>
          <option value="change">after a change</option>
        </select>
      </div>
      {isTime ? (
        <div class="field" key="time">
          <label for="moment">Time</label>
          <input
            id="moment"
            name="moment"
            type="datetime-local"
            step="1"
            class="input"
            required
            defaultValue={/^\d+$/.test(at) ? "" : localInputValue(at)}
          />
        </div>
      ) : (
        <div class="field" key="change">
          <label for="moment">Number of the change</label>
          <input
            id="moment"
            name="moment"
            inputMode="numeric"
            pattern="#?[0-9]{1,16}"
            title="A whole number, such as #12 in the list of changes"
            class="input"
            autocomplete="off"
            required
            defaultValue={/^\d+$/.test(at) ? at : ""}
          />
        </div>
      )}
      <button type="submit" class="button primary">
        Show
      </button>
      <div class="row">
        {shortcuts.map(([label, ms]) => (
          <button
            type="button"
            key={label}
            class="button small quiet"
            onClick={() => open(new Date(Date.now() - ms).toISOString())}
          >
            {label}
          </button>
        ))}
      </div>
    </form>
  );
}
