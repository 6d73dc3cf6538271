import { quoted } from "../../domain/values/shell.ts";
import type { RefusedRequest } from "../client/types.ts";

/** A command that sends a request again. The service keeps neither the key nor the body. */
export function curlOf({ method, path }: RefusedRequest, origin: string): string {
  // With -g, curl takes a path such as /[1-9] as one path, too.
  const words = ["curl -g", method === "HEAD" ? "--head" : `-X ${quoted(method)}`];
  words.push(quoted(origin + path), "-H 'Authorization: Bearer <API_KEY>'");
  if (/^(POST|PATCH|PUT)$/.test(method)) {
    words.push("-H 'Content-Type: application/json' -d '<BODY>'");
  }
  return words.join(" ");
}
