import { dayMs, hourMs, minuteMs } from "../../domain/values/times.ts";

/** Times are shown in the time zone of the person, and in full as a tooltip. */

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const day = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const minuteOfYear = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** For example 14:05:09. */
export function clockTime(at: number): string {
  return clock.format(at);
}

/** For example Nov 3, 2026. */
export function dayOnly(at: number): string {
  return day.format(at);
}

/** For example 14:05:09 today, and Nov 3, 2026, 14:05:09 on another day. */
export function dayAndTime(at: number, now = Date.now()): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  return isToday ? clock.format(at) : `${day.format(at)}, ${clock.format(at)}`;
}

/** For narrow columns: 14:05:09 today, Nov 3, 14:05 this year, and otherwise Nov 3, 2025. */
export function shortTime(at: number, now = Date.now()): string {
  const date = new Date(at);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) return clock.format(at);
  const isThisYear = date.getFullYear() === today.getFullYear();
  return (isThisYear ? minuteOfYear : day).format(at);
}

const units = [
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** For example "3 minutes ago" or "in 2 hours". */
export function relativeTime(at: number, now = Date.now()): string {
  const difference = at - now;
  for (const [unit, ms] of units) {
    if (Math.abs(difference) >= ms) return relative.format(Math.round(difference / ms), unit);
  }
  return difference > 0 ? "in a moment" : "just now";
}

/** Writes the times in a text of the service like all other times on the page. */
export function withLocalTimes(text: string, now = Date.now()): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) =>
    dayAndTime(Date.parse(time), now),
  );
}

// Conversions for <input type="datetime-local">, which has no time zone: it shows the person's own.

/** The value of the input for a time of the API. Empty if the time is. */
export function localInputValue(time: string): string {
  if (time === "") return "";
  const at = Date.parse(time);
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  const isWhole = at % 60_000 === 0;
  return shifted.toISOString().slice(0, isWhole ? 16 : 19);
}

/** The time for the API. Empty if the input is. */
export function readLocalInput(value: string): string {
  const at = value === "" ? Number.NaN : new Date(value).getTime();
  return Number.isNaN(at) ? "" : new Date(at).toISOString();
}

/**
 * Today, yesterday and this week, which starts on Monday: the start and the end, and the name. A period that
 * lasts has no end: the newest changes belong to it whatever the clock of the service shows.
 */
export function commonPeriods(now = new Date()) {
  const midnight = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
  const monday = -((now.getDay() + 6) % 7);
  return [
    [`${midnight(0)} `, "Today"],
    [`${midnight(-1)} ${midnight(0)}`, "Yesterday"],
    [`${midnight(monday)} `, "This week"],
  ] as const;
}
