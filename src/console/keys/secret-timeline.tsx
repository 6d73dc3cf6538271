import { minuteMs } from "../../domain/values/times.ts";
import type { KeySecret } from "../client/types.ts";
import { Time, useNow } from "../parts/time.tsx";

const width = 100;
const barHeight = 6;
const rowHeight = 10;

/** The secrets of a key on a time axis: during a rotation, the old and the new one overlap. */
export function SecretTimeline({ secrets }: { readonly secrets: readonly KeySecret[] }) {
  const now = useNow(minuteMs).value;
  const ordered = [...secrets].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
  const hasEnd = ordered.some(({ expiresAt }) => expiresAt !== null);
  if (ordered.length === 0) return <p class="muted">No secret works any more.</p>;
  return (
    <div class="stack">
      {hasEnd && <Bars secrets={ordered} now={now} />}
      <ul class="stack secret-list">
        {ordered.map(({ createdAt, expiresAt }, index) => (
          <li key={createdAt} data-place={index + 1}>
            <span class="dot" />
            <span>
              {ordered.length === 1 ? "Secret" : index === 0 ? "New secret" : "Old secret"}{" "}
              <span class="muted">
                from <Time at={createdAt} />
                {expiresAt ? (
                  <>
                    {" "}
                    until <Time at={expiresAt} /> (<Time at={expiresAt} isRelative />)
                  </>
                ) : (
                  ", with no end"
                )}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * From some time ago until after the first end. Bars that go on are cut at the edges. The current time
 * is always at a quarter, where the style sheet puts its label.
 */
function Bars({ secrets, now }: { readonly secrets: readonly KeySecret[]; readonly now: number }) {
  const ends = secrets.flatMap(({ expiresAt }) => (expiresAt ? [Date.parse(expiresAt)] : []));
  const ahead = Math.max(minuteMs, Math.min(...ends) - now);
  const from = now - ahead / 2;
  const until = now + ahead * 1.5;
  const x = (at: number) => Math.min(1, Math.max(0, (at - from) / (until - from))) * width;
  return (
    <div>
      <svg
        class="secret-bars"
        viewBox={`0 0 ${width} ${secrets.length * rowHeight}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {secrets.map(({ createdAt, expiresAt }, row) => {
          const start = x(Date.parse(createdAt));
          const end = expiresAt ? x(Date.parse(expiresAt)) : width;
          return (
            <rect
              key={createdAt}
              data-place={row + 1}
              x={start}
              y={row * rowHeight + (rowHeight - barHeight) / 2}
              width={Math.max(0.5, end - start)}
              height={barHeight}
            />
          );
        })}
        <line class="secret-now" x1={x(now)} x2={x(now)} y1="0" y2={secrets.length * rowHeight} />
      </svg>
      <p class="secret-axis" aria-hidden="true">
        now
      </p>
    </div>
  );
}
