import { backupAgeMsMax, judgeBackup, judgeDrill } from "../../domain/operations/attention.ts";
import { quoted } from "../../domain/values/shell.ts";
import { minuteMs } from "../../domain/values/times.ts";
import type { Backups, MaintenanceRuns } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { Time, useNow } from "../parts/time.tsx";
import { capitalized, countOf, formatSeconds } from "../texts/formats.ts";
import { relativeTime } from "../texts/times.ts";

/** The age of the newest backup. */
export function LastCard({ last, lastAt, everySeconds }: Backups) {
  const now = useNow(minuteMs).value;
  const everyMs = everySeconds && everySeconds * 1_000;
  const oldSeconds = backupAgeMsMax(everyMs) / 1_000;
  const fact = judgeBackup(msOf(last?.failedAt), msOf(lastAt), everyMs, now)?.fact;
  return (
    <Card title="Last backup">
      <p class={`stat ${fact ? "is-late" : ""}`}>{ageText(lastAt, now)}</p>
      {lastAt && (
        <p class="small muted">
          <Time at={lastAt} />
        </p>
      )}
      {fact === "old" && <p class="small is-late">It is older than {formatSeconds(oldSeconds)}.</p>}
      {fact === "failed" && <Failure runs={last} />}
    </Card>
  );
}

export function ScheduleCard({ everySeconds, keep }: Backups) {
  const every = everySeconds && formatSeconds(everySeconds).replace(/^1 (?=\w+$)/, "");
  return (
    <Card title="Schedule">
      <p class="stat">{every ? `Every ${every}` : "Off"}</p>
      {every && <p class="small muted">The last {countOf(keep, "backup")} are kept.</p>}
    </Card>
  );
}

/** Whether a backup was restored as a test, and when. */
export function DrillCard({ drill, lastAt, files, folder }: Backups) {
  const now = useNow(minuteMs).value;
  const at = drill?.succeededAt;
  const fact = judgeDrill(msOf(drill?.failedAt), msOf(at), msOf(lastAt), now)?.fact;
  return (
    <Card title="Last drill">
      <p class="stat">{ageText(at, now)}</p>
      {at && (
        <p class="small muted">
          A backup was restored as a test, without a fault: <Time at={at} />
        </p>
      )}
      {fact === "failed" && <Failure runs={drill} />}
      {fact && (
        <p class="small">
          Prove that a backup can be restored. Run this where the service runs, with its settings
          and variables: <code class="drill-command">{drillCommand(folder, files[0]?.name)}</code>
        </p>
      )}
    </Card>
  );
}

/** Whether another program has copied every update. */
export function ReplicaCard({ replica }: Backups) {
  const now = useNow(minuteMs).value;
  const at = replica?.succeededAt;
  const known = replica?.error ? ageText(at, now) : "Current";
  return (
    <Card title="Continuous copy">
      <p class={`stat ${replica?.error ? "is-late" : ""}`}>
        {replica ? (at ? known : "Unknown") : "Off"}
      </p>
      <p class="small muted">
        {replica ? at && "It was last current: " : "--replica-check is not set."}
        {at && <Time at={at} />}
      </p>
      {replica?.error && <Failure runs={replica} />}
    </Card>
  );
}

function Failure({ runs }: { readonly runs: MaintenanceRuns | null }) {
  if (!runs?.failedAt) return null;
  return (
    <p class="notice danger small">
      Failed at <Time at={runs.failedAt} />: <bdi>{runs.error ?? "no reason is known"}</bdi>. Run{" "}
      <code>petstore doctor</code> where the service runs.
    </p>
  );
}

type MaybeTime = string | null | undefined;

/** For example "3 hours ago". */
function ageText(at: MaybeTime, now: number): string {
  return at ? capitalized(relativeTime(Date.parse(at), now)) : "None";
}

function msOf(at: MaybeTime): number | null {
  return at ? Date.parse(at) : null;
}

/** The command that drills a backup. It works in any folder of the service's machine. */
export function drillCommand(folder: string, name: string | undefined): string {
  if (name === undefined) return "petstore drill FILE";
  return `petstore drill ${quoted(`${folder}/${name}`)}`;
}
