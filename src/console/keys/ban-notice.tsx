import { request } from "../client/api.ts";
import type { Key } from "../client/types.ts";
import { showSuccess } from "../page/toasts.ts";
import { useNow } from "../parts/now.ts";
import { useSubmission } from "../parts/submission.ts";
import { Time } from "../parts/time.tsx";
import { formatCountdown } from "../texts/numbers.ts";

interface Props {
  readonly entry: Key;
  readonly until: string;
  readonly lifted: () => void;
}

/** Says that a key is banned, for how long, and lifts the ban. */
export function BanNotice({ entry, until, lifted }: Props) {
  const now = useNow();
  const { isBusy, error, run } = useSubmission();
  const lift = () =>
    run(async () => {
      await request(`/keys/${entry.id}/unban`, { method: "POST" });
      showSuccess(`Lifted the ban of ${entry.name}`);
      lifted();
    });
  return (
    <section class="notice danger ban-notice" aria-label="Ban">
      <div>
        <p>
          <strong>This key is banned</strong> until <Time at={until} />. It ends in{" "}
          <span class="countdown">{formatCountdown(Date.parse(until) - now.value)}</span>.
        </p>
        <p class="small">
          It sent many requests after its limit was used up. Every request is refused until then.
        </p>
        <p class="field-error" role="alert">
          {error.value}
        </p>
      </div>
      <button type="button" class="button" disabled={isBusy.value} onClick={() => void lift()}>
        {isBusy.value ? "Lifting…" : "Lift the ban"}
      </button>
    </section>
  );
}
