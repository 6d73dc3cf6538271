import type { Reply } from "../messages/reply.ts";
import type { Call } from "../pipeline/operation.ts";

/**
 * Replies with one page. The next page has the parameters of `query`, except for the one that selects it.
 * Without a value for that one, this is the last page.
 */
export function pageReply(
  { request, operation }: Call,
  query: URLSearchParams,
  body: string,
  selector: "after" | "before",
  value: number | bigint | undefined,
): Reply {
  if (value === undefined) return { status: 200, body };
  const next = new URLSearchParams(query);
  next.delete(selector);
  next.append(selector, String(value));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => request.params![name]!);
  return {
    status: 200,
    body,
    headers: { Link: `<${operation.basePath}${path}?${next}>; rel="next"` },
  };
}
