/**
 * The value of the cookie with this name, as it was sent. Undefined if there is none, and if there are
 * several: one of them was then set for another path or domain, perhaps by somebody else.
 */
export function readCookie({ headers }: Pick<Request, "headers">, name: string) {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : undefined;
}
