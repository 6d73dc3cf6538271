import { request } from "../client/api.ts";
import type { Key } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { FieldError } from "../parts/fields.tsx";
import { useSubmission } from "../parts/submission.ts";
import { Time, useNow } from "../parts/time.tsx";
import { formatCountdown } from "../texts/formats.ts";

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
    <section class="notice danger spread" aria-label="Ban">
      <div>
        <p>
          <strong>This key is banned</strong> until <Time at={until} />. It ends in{" "}
          <strong>{formatCountdown(Date.parse(until) - now.value)}</strong>.
        </p>
        <p class="small">
          It sent many requests after its limit was used up. Every request is refused until then.
        </p>
        <FieldError>{error.value}</FieldError>
      </div>
      <Button isDisabled={isBusy.value} onClick={() => lift()}>
        {isBusy.value ? "Lifting…" : "Lift the ban"}
      </Button>
    </section>
  );
}
