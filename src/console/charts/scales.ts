import { dayMs, hourMs, minuteMs } from "../../domain/values/times.ts";

// Where the ticks of an axis are, and what they say.

/** Whole numbers from 0 up to at least `max`, at round distances. There are at most `countMax` + 1. */
export function valueTicks(max: number, countMax = 4): readonly number[] {
  const rough = Math.max(1, max / countMax);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!;
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** For example 950 or 1.2K. */
export function shortNumber(value: number): string {
  return compact.format(value);
}

export interface TimeTick {
  readonly at: number;
  readonly label: string;
}

const stepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14].map((days) => days * dayMs),
];
const stepsMonths = [1, 2, 3, 6, 12, 24, 60, 120];
const monthMs = 30.4 * dayMs;

/**
 * Round times between two times, at most `countMax`. They are round in the time zone of the person, or
 * in UTC.
 */
export function timeTicks(
  from: number,
  until: number,
  countMax: number,
  isUtc = false,
): readonly TimeTick[] {
  const range = Math.max(1, until - from);
  const count = Math.max(1, countMax);
  const stepMs = stepsMs.find((size) => range / size <= count);
  const zone = isUtc ? utc : local;
  const times =
    stepMs === undefined
      ? monthTimes(zone.toWall(from), zone.toWall(until), count)
      : stepTimes(zone.toWall(from), zone.toWall(until), stepMs);
  return times
    .map((wall) => ({ at: zone.fromWall(wall), label: labelOf(wall, stepMs) }))
    .filter(({ at }) => at >= from && at <= until);
}

function stepTimes(from: number, until: number, stepMs: number): number[] {
  const first = Math.ceil(from / stepMs) * stepMs;
  const count = Math.max(0, Math.floor((until - first) / stepMs) + 1);
  return Array.from({ length: count }, (_, index) => first + index * stepMs);
}

function monthTimes(from: number, until: number, countMax: number): number[] {
  const rough = (until - from) / monthMs / countMax;
  const months = stepsMonths.find((size) => size >= rough) ?? stepsMonths.at(-1)!;
  const start = new Date(from);
  const firstMonth = start.getUTCFullYear() * 12 + start.getUTCMonth();
  const times: number[] = [];
  for (let month = Math.ceil(firstMonth / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12);
    if (at > until) return times;
    times.push(at);
  }
}

/** A wall time is the time that a clock in the zone shows, counted as if it were UTC. */
interface Zone {
  toWall(at: number): number;
  fromWall(wall: number): number;
}

const utc: Zone = { toWall: (at) => at, fromWall: (wall) => wall };
const offsetMs = (at: number) => new Date(at).getTimezoneOffset() * minuteMs;
const local: Zone = {
  toWall: (at) => at - offsetMs(at),
  fromWall: (wall) => wall + offsetMs(wall + offsetMs(wall)),
};

const formats = {
  second: format({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
  minute: format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  day: format({ month: "short", day: "numeric" }),
  month: format({ month: "short" }),
  year: format({ year: "numeric" }),
};

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
}

function labelOf(wall: number, stepMs: number | undefined): string {
  if (stepMs === undefined) {
    const isJanuary = new Date(wall).getUTCMonth() === 0;
    return (isJanuary ? formats.year : formats.month).format(wall);
  }
  if (stepMs >= dayMs || wall % dayMs === 0) return formats.day.format(wall);
  return (stepMs < minuteMs ? formats.second : formats.minute).format(wall);
}
