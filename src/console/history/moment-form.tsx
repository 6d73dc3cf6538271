import { useSignal } from "@preact/signals";
import { hourMs } from "../../domain/values/times.ts";
import { navigate } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { choicesOf, keptIn, SelectField } from "../parts/choices.tsx";
import { takeForm } from "../parts/submission.ts";
import { localInputValue, readLocalInput } from "../texts/times.ts";

const shortcutHours = Object.entries({ "An hour ago": 1, "A day ago": 24, "A week ago": 168 });

const kinds = choicesOf({ time: "at a time", change: "after a change" });

const field = { id: "moment", name: "moment", class: "input", required: true };

/** Lets the person choose a moment: a time, or the number of a change. */
export function MomentForm({ at }: { readonly at: string }) {
  const isNumber = /^\d+$/.test(at);
  const kind = useSignal<"time" | "change">(isNumber ? "change" : "time");
  const isTime = kind.value === "time";
  const open = (moment: string) => navigate(`/history/moment?at=${encodeURIComponent(moment)}`);
  const submit = (form: FormData) => {
    const text = String(form.get("moment") ?? "").trim();
    const moment = isTime ? readLocalInput(text) : text.replace("#", "");
    if (moment !== "") open(moment);
  };
  return (
    <form class="row filter-bar moment-form" onSubmit={takeForm(submit)}>
      <SelectField id="moment-kind" label="Show the inventory" choices={kinds} {...keptIn(kind)} />
      <div class="field" key={kind.value}>
        <label for="moment">{isTime ? "Time" : "Number of the change"}</label>
        {isTime ? (
          <input
            {...field}
            type="datetime-local"
            step="1"
            defaultValue={isNumber ? "" : localInputValue(at)}
          />
        ) : (
          <input
            {...field}
            inputMode="numeric"
            pattern="#?[0-9]{1,16}"
            title="A whole number, such as #12 in the list of changes"
            autocomplete="off"
            defaultValue={isNumber ? at : ""}
          />
        )}
      </div>
      <Button kind="primary">Show</Button>
      <div class="row">
        {shortcutHours.map(([label, hours]) => (
          <Button
            key={label}
            kind="quiet"
            isSmall
            onClick={() => open(new Date(Date.now() - hours * hourMs).toISOString())}
          >
            {label}
          </Button>
        ))}
      </div>
    </form>
  );
}
