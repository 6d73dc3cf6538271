import type { Backups, MaintenanceRuns } from "../client/types.ts";
import { Card } from "../parts/card.tsx";
import { Time, useNow } from "../parts/time.tsx";
import { capitalized, countOf, formatSeconds } from "../texts/formats.ts";
import { relativeTime } from "../texts/times.ts";

const minuteMs = 60_000;
/** After this many days, a backup should be restored as a test again. */
const drillDaysMax = 35;

/** The age of the newest backup. */
export function LastCard({ last, files, everySeconds }: Backups) {
  const now = useNow(minuteMs).value;
  const at = newest(last?.succeededAt, files[0]?.createdAt);
  const ageSeconds = at === undefined ? 0 : Math.max(0, (now - Date.parse(at)) / 1_000);
  // One backup may be late or fail. Two in a row are a problem.
  const isOld = everySeconds !== null && ageSeconds > 2 * everySeconds;
  return (
    <Card title="Last backup">
      {at === undefined ? (
        <p class="stat">None</p>
      ) : (
        <>
          <p class={`stat ${isOld ? "is-late" : ""}`}>{ageText(at, now)}</p>
          <p class="small muted">
            <Time at={at} />
          </p>
        </>
      )}
      {isOld && <p class="small is-late">It is older than the schedule allows.</p>}
      <Failure runs={last} />
    </Card>
  );
}

export function ScheduleCard({ everySeconds, keep }: Backups) {
  return (
    <Card title="Schedule">
      {everySeconds === null ? (
        <p class="stat">Off</p>
      ) : (
        <>
          <p class="stat">Every {formatSeconds(everySeconds).replace(/^1 (?=\w+$)/, "")}</p>
          <p class="small muted">The last {countOf(keep, "backup")} are kept.</p>
        </>
      )}
    </Card>
  );
}

/** Whether a backup was restored as a test, and when. */
export function DrillCard({ drill, files, folder }: Backups) {
  const now = useNow(minuteMs).value;
  const at = drill?.succeededAt ?? undefined;
  const ageSeconds = at === undefined ? 0 : Math.max(0, (now - Date.parse(at)) / 1_000);
  const isOld = at === undefined || ageSeconds > drillDaysMax * 86_400;
  return (
    <Card title="Last drill">
      {at === undefined ? (
        <p class="stat">None</p>
      ) : (
        <>
          <p class="stat">{ageText(at, now)}</p>
          <p class="small muted">
            A backup was restored as a test, without a fault: <Time at={at} />
          </p>
        </>
      )}
      <Failure runs={drill} />
      {isOld && (
        <p class="small">
          Prove that a backup can be restored. Run this where the service runs, with the same
          settings: <code class="drill-command">{drillCommand(folder, files[0]?.name)}</code>
        </p>
      )}
    </Card>
  );
}

/** Shown if the last run failed. */
function Failure({ runs }: { readonly runs: MaintenanceRuns | null }) {
  if (!runs?.failedAt) return null;
  if (runs.succeededAt && Date.parse(runs.succeededAt) > Date.parse(runs.failedAt)) return null;
  return (
    <p class="notice danger small">
      Failed at <Time at={runs.failedAt} />: <bdi>{runs.error ?? "no reason is known"}</bdi>
    </p>
  );
}

/** For example "3 hours ago". */
function ageText(at: string, now: number): string {
  return capitalized(relativeTime(Date.parse(at), now));
}

function newest(...times: (string | null | undefined)[]): string | undefined {
  return times
    .filter((time) => typeof time === "string")
    .sort((a, b) => Date.parse(b) - Date.parse(a))[0];
}

/** The command that drills a backup. It works in any folder of the service's machine. */
export function drillCommand(folder: string, name: string | undefined): string {
  if (name === undefined) return "petstore drill FILE";
  return `petstore drill ${quoted(`${folder}/${name}`)}`;
}

/** Quotes a path for the shell, which would split it at spaces or run parts of it. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
