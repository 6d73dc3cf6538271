import { dayAndTime, relativeTime, shortTime } from "./times.ts";

interface Props {
  /** As the API writes it. */
  readonly at: string;
  /** `relative` shows how long ago it was, `short` fits into a narrow column. */
  readonly style?: keyof typeof formats;
}

const formats = { full: dayAndTime, short: shortTime, relative: relativeTime };

/** A time, with the exact one as a tooltip. */
export function Time({ at, style = "full" }: Props) {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {formats[style](ms)}
    </time>
  );
}
