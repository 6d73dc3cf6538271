import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { dayAndTime, relativeTime, shortTime } from "../texts/times.ts";

interface Props {
  /** As the API writes it. */
  readonly at: string;
  /** Shows how long ago it was instead of the time. */
  readonly isRelative?: boolean;
  /** Shows less, for a narrow column. */
  readonly isShort?: boolean;
}

/** A time, with the exact one as a tooltip. */
export function Time({ at, isRelative = false, isShort = false }: Props) {
  const ms = Date.parse(at);
  const format = isRelative ? relativeTime : isShort ? shortTime : dayAndTime;
  return (
    <time dateTime={at} title={at}>
      {format(ms)}
    </time>
  );
}

/** The current time, updated once a second, for countdowns and ages on the page. */
export function useNow(everyMs = 1_000): Signal<number> {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [now, everyMs]);
  return now;
}
