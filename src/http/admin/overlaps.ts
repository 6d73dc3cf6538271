import { InvalidField } from "../../domain/running/errors.ts";
import { type Fields, integerField } from "./fields.ts";

/** A year. A secret that is needed for longer should not be replaced. */
export const overlapSecondsMax = 31_536_000;
export const overlapRule = `must be an integer from 0 to ${overlapSecondsMax}`;

/** How long an old secret stays valid, in milliseconds. Undefined if the request does not say. */
export function readOverlapMs(fields: Fields): number | undefined {
  const seconds = integerField(fields, "overlapSeconds");
  if (seconds === undefined) return undefined;
  if (seconds >= 0 && seconds <= overlapSecondsMax) return seconds * 1_000;
  throw new InvalidField("overlapSeconds", overlapRule);
}
