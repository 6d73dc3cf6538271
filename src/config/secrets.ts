import type { Setting } from "../settings/setting.ts";

const hidden = "[hidden]";

/** Parts of the query of a database address that contain no secret. */
const openParameters = new Set(["sslmode", "host", "port", "prepare", "application_name"]);

/** The text of a setting without passwords. A secret setting is shown only in a form whose secrets are known. */
export function hideSecrets(
  { isSecret }: Pick<Setting<unknown>, "isSecret">,
  text: string,
): string {
  if (/^postgres(ql)?:/.test(text)) return hideInAddress(text);
  const isOpen = !isSecret || /^(?:sqlite:|https?:\/\/)/.test(text) || text === "";
  return isOpen ? text.replace(/([a-z][a-z0-9+.-]*:\/\/)(.*)/is, hideInUrl) : hidden;
}

/** Hides everything before the last `@`, which may be a password with any character, and the query. */
function hideInUrl(_: string, scheme: string, rest: string): string {
  const at = rest.lastIndexOf("@");
  const place = rest.slice(at + 1).replace(/[?#].*/s, `?${hidden}`);
  return `${scheme}${at < 0 ? "" : `${hidden}@`}${place}`;
}

/**
 * Hides the password and unknown parameters. An address without a user may have a password in place
 * of the port, so its host is then hidden too.
 */
function hideInAddress(text: string): string {
  const [, scheme, authority, path, query] =
    /^(\w+:\/\/)([^/?#]*)(\/[^?#@]*)?(?:\?([^#@]*))?$/.exec(text) ?? [];
  if (scheme === undefined || authority === undefined) return hidden;
  const [user, host] = authority.includes("@") ? authority.split("@") : [undefined, authority];
  const shownUser = user === undefined ? "" : `${user.replace(/:.*/s, `:${hidden}`)}@`;
  const shownHost = user === undefined && host!.includes(":") ? hidden : host;
  const parameters = [...new URLSearchParams(query ?? "")].map(
    ([name, value]) => `${name}=${openParameters.has(name) ? value : hidden}`,
  );
  const shownQuery = parameters.length > 0 ? `?${parameters.join("&")}` : "";
  return `${scheme}${shownUser}${shownHost}${path ?? ""}${shownQuery}`;
}
