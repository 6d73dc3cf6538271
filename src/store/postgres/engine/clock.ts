/** The database's time in milliseconds, or the first parameter if it is not null. */
export const nowMs =
  "coalesce($1::int8, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8)";

export const readClock = `SELECT ${nowMs}`;

/** The time in milliseconds that the clock of the server shows. */
export const serverTimeMs = "floor(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8";

/** For this long, the clocks of server and process are assumed to run at the same speed. */
const knownMs = 1_500;

export type ServerClock = ReturnType<typeof createServerClock>;

/**
 * What this process knows of the clock of the primary. A server reads its clock before its response
 * arrives, so from then on the clock shows at least that time, plus the time that has passed here.
 */
export function createServerClock() {
  let offsetMs = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let seenTimeline = 0;
  return {
    /** Takes the time, in milliseconds, of a response that has just arrived from a server on this timeline. */
    saw(timeMs: number, timeline: number): void {
      seenAt = performance.now();
      offsetMs = timeMs - seenAt;
      seenTimeline = timeline;
    },
    /** The earliest time that the clock can show now. Undefined if no recent response had this timeline. */
    least(timeline: number): number | undefined {
      const now = performance.now();
      return timeline === seenTimeline && now - seenAt < knownMs ? now + offsetMs : undefined;
    },
  };
}
