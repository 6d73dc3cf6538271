/** An entity tag as RFC 9110 defines it, without the mark of a weak one. */
const strongTag = /^"[\x21\x23-\x7e]*"$/;

/**
 * Returns the value of the `If-Match` header, or undefined if the caller gave no `ifMatch`. Rejects
 * `ifMatch: undefined`: without the header, the update would overwrite any count.
 */
export function ifMatchHeader(options: object): string | undefined {
  if (!("ifMatch" in options)) return undefined;
  const { ifMatch } = options;
  if (ifMatch === "*") return ifMatch;
  const tags: unknown[] = Array.isArray(ifMatch) ? ifMatch : [ifMatch];
  if (tags.length > 0 && tags.every((tag) => typeof tag === "string" && strongTag.test(tag))) {
    return tags.join(", ");
  }
  throw new TypeError(
    'ifMatch must be "*", or one or more strong ETags as the service sent them, such as entry.etag. Leave it out for an update without a condition',
  );
}
