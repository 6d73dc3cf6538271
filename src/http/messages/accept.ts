/**
 * Whether a client that sends this `Accept` wants `mediaType` rather than `other` (RFC 9110 12.5.1).
 * Only types that it names count, so a client that accepts everything gets the other one. So does a
 * client that gives both the same weight: some generated clients list every type in the API
 * description.
 */
export function prefers(accept: string | null, mediaType: string, other: string): boolean {
  if (accept === null) return false;
  return weightOf(accept, mediaType) > weightOf(accept, other);
}

/** The quality that the header gives to a media type; 0 if it does not name the type. */
function weightOf(accept: string, mediaType: string): number {
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    if (name !== mediaType) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 0;
}
