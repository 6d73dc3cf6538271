import type { Webhook } from "../client/types.ts";
import { Time } from "../parts/time.tsx";
import { capitalized, countOf } from "../texts/formats.ts";

/** One badge: failing is more important than being active. */
export function HealthBadge({ state, failures }: Pick<Webhook, "state" | "failures">) {
  if (state === "active" && failures > 0) return <span class="badge danger">Failing</span>;
  const tone = { active: "success", paused: "warning", disabled: "danger" }[state];
  return <span class={`badge ${tone}`}>{capitalized(state)}</span>;
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
