import { dayAndTime, relativeTime } from "./times.ts";

interface Props {
  /** As the API writes it. */
  readonly at: string;
  /** Shows how long ago it was instead of the time. */
  readonly isRelative?: boolean;
}

export function Time({ at, isRelative = false }: Props) {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {isRelative ? relativeTime(ms) : dayAndTime(ms)}
    </time>
  );
}
