import { conditionOf } from "../../domain/operations/attention.ts";
import type { Webhook } from "../client/types.ts";
import { Time } from "../parts/time.tsx";
import { capitalized, countOf } from "../texts/formats.ts";

/** One badge: failing is more important than being active. */
export function HealthBadge({ state, failures }: Pick<Webhook, "state" | "failures">) {
  const condition = conditionOf({ state, failures });
  const tones = { active: "success", failing: "danger", paused: "warning", disabled: "danger" };
  return <span class={`badge ${tones[condition]}`}>{capitalized(condition)}</span>;
}

/** How the deliveries go, in one sentence. */
export function HealthText({ webhook }: { readonly webhook: Webhook }) {
  const { state, stateReason, failures, failingSince, nextAttemptAt, behind } = webhook;
  if (state !== "active") return <bdi>{capitalized(stateReason ?? "not active")}</bdi>;
  if (failures > 0 && failingSince) {
    return (
      <>
        {countOf(failures, "attempt")} failed since <Time at={failingSince} />
        {nextAttemptAt && (
          <>
            , next <Time at={nextAttemptAt} isRelative />
          </>
        )}
      </>
    );
  }
  return <>{behind === 0 ? "Everything is delivered" : "Delivering"}</>;
}
