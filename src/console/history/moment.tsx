import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { hourMs } from "../../domain/values/times.ts";
import { navigate } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { ButtonGroup, choicesOf, keptIn, SelectField } from "../parts/choices.tsx";
import { takeForm } from "../parts/fields.tsx";
import { Empty, useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { Outdated } from "../stock/nothing.tsx";
import { current, loadStock, outdatedSince, stockSource } from "../stock/state.ts";
import { changeNumber, formatCount } from "../texts/formats.ts";
import { dayAndTime, localInputValue, readLocalInput } from "../texts/times.ts";
import { compareWithNow, isDifferent, loadPast, type PastInventory } from "./moment-rows.ts";
import { MomentTable } from "./moment-table.tsx";

/** The whole inventory at a moment, and what is different now. */
export function MomentView({ at }: { readonly at: string }) {
  return (
    <>
      <MomentForm key={at} at={at} />
      {at === "" ? (
        <Empty title="Choose a moment">
          <p>See the whole inventory as it was then, and every difference from now.</p>
        </Empty>
      ) : (
        <Loaded key={at} at={at} />
      )}
    </>
  );
}

function Loaded({ at }: { readonly at: string }) {
  const source = useLoaded((signal) => loadPast(isMoment(at) ? at : "?", signal), [at]);
  useEffect(() => {
    void loadStock();
  }, []);
  return (
    <WhenLoaded source={stockSource} what="the stock">
      {() => (
        <>
          {outdatedSince.value !== undefined && <Outdated since={outdatedSince.value} />}
          <WhenLoaded source={source}>
            {(past) => <Comparison title={titleOf(at, past)} past={past} />}
          </WhenLoaded>
        </>
      )}
    </WhenLoaded>
  );
}

/** The service explains what is wrong with any other text. */
function isMoment(text: string): boolean {
  return /^[\w:.+-]+$/.test(text);
}

function titleOf(at: string, { seq }: PastInventory): string {
  if (/^\d+$/.test(at))
    return seq === 0 ? "Before the first change" : `After change ${changeNumber(seq)}`;
  return `At ${dayAndTime(Date.parse(at))}, after change ${changeNumber(seq)}`;
}

/** Comparing 100,000 pets takes a moment, so it is done at most this often while changes arrive. */
const compareMs = 500;

function Comparison({ title, past }: { readonly title: string; readonly past: PastInventory }) {
  const compared = useSignal(current.peek());
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = current.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        compared.value = current.peek();
      }, compareMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [compared]);
  const rows = useComputed(() => compareWithNow(past, compared.value.entries));
  const different = useComputed(() => rows.value.filter(isDifferent));
  const onlyDifferent = useSignal(true);
  const shown = onlyDifferent.value
    ? different.value
    : rows.value.filter(({ before }) => before !== null);
  return (
    <>
      <div class="spread">
        <h2 class="entry-title">{title}</h2>
        <ButtonGroup
          label="Rows"
          choices={[
            [true, `Different from now (${formatCount(different.value.length)})`],
            [false, `All pets then (${formatCount(past.entries.length)})`],
          ]}
          {...keptIn(onlyDifferent)}
        />
      </div>
      {shown.length > 0 ? (
        <MomentTable rows={shown} />
      ) : onlyDifferent.value ? (
        <Empty title="Nothing is different now">
          <p>The quantity and the status of every pet are the same as then.</p>
        </Empty>
      ) : (
        <Empty title="There were no pets yet">
          <p>Choose a later moment.</p>
        </Empty>
      )}
    </>
  );
}

const shortcutHours = Object.entries({ "An hour ago": 1, "A day ago": 24, "A week ago": 168 });

const kinds = choicesOf({ time: "at a time", change: "after a change" });

const field = { id: "moment", name: "moment", class: "input", required: true };

/** Lets the person choose a moment: a time, or the number of a change. */
function MomentForm({ at }: { readonly at: string }) {
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
