import { isIP } from "node:net";
import { InvalidField } from "../domain/running/errors.ts";
import { urlCharactersMax } from "../domain/webhooks/terms.ts";

/** Where a webhook sends its requests. */
export type ReceiverUrl = ReturnType<typeof parseReceiverUrl>;

/**
 * Parses the URL of a receiver. Throws InvalidField `url`.
 *
 * The rules apply to the text as it was given. A URL parser rewrites it first: it reads `0x7f.1`,
 * `2130706433`, `0177.0.0.1`, `127.0.0.1.`, full-width digits and percent-encoded hosts as
 * 127.0.0.1, and `\` as `/`. A host that it would rewrite is refused, apart from capitals in a name.
 */
export function parseReceiverUrl(text: string, allowInsecure: boolean) {
  if (text.length > urlCharactersMax) {
    throw invalid(`must have at most ${urlCharactersMax} characters`);
  }
  // The characters of RFC 3986. Others could be rewritten, or end a line of the request.
  if (!/^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/.test(text)) {
    throw invalid("must write characters that are not allowed in a URL as %XX, and hosts as xn--…");
  }
  const [, scheme = "", authority = ""] = /^(https?):\/\/([^/?#]+)/i.exec(text) ?? [];
  const isSecure = scheme.toLowerCase() === "https";
  if (!isSecure && !(allowInsecure && scheme)) {
    const hint = scheme ? "; --webhooks-allow-insecure allows http" : "";
    throw invalid(`must be https://HOST/…${allowInsecure ? " or http://HOST/…" : hint}`);
  }
  if (authority.includes("@")) throw invalid("must not contain a user name or a password");
  if (text.includes("#")) throw invalid("must not have a fragment");
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  checkHost(host);
  checkPort(port);
  const url = URL.parse(text);
  if (url?.hostname !== host.toLowerCase()) throw invalid("must be a valid URL");
  const name = url.hostname.replace(/^\[|\]$/g, "");
  return {
    isSecure,
    /** A DNS name in lower case, or an address without brackets. */
    host: name,
    isLiteral: isIP(name) !== 0,
    port: Number(url.port) || (isSecure ? 443 : 80),
    /** The value of the header Host. */
    authority: url.host,
    /** Path and query. */
    target: url.pathname + url.search,
  };
}

function checkHost(host: string): void {
  if (host.startsWith("[")) {
    // The parser writes the shortest form of RFC 5952, apart from IPv4 addresses at the end.
    if (isIP(host.slice(1, -1)) !== 6 || URL.parse(`http://${host}`)?.hostname !== host) {
      throw invalid("must have the shortest form of an IPv6 address, such as [2606:4700::1111]");
    }
    return;
  }
  if (host.endsWith(".")) throw invalid("must have a host without a dot at its end");
  const labels = host.split(".");
  // The parser reads a host with such a last label as an IPv4 address.
  if (/^(?:[0-9]+|0x[0-9a-f]*)$/i.test(labels.at(-1)!)) {
    if (isIP(host) !== 4) throw invalid("must have an IPv4 address of four decimal numbers");
    return;
  }
  const isName = labels.every((label) => /^\w(?:[\w-]{0,61}\w)?$/.test(label));
  if (!isName || host.length > 253) throw invalid("must have a valid host name");
}

/** Other ports below 1024 belong to other services, such as mail. */
function checkPort(port: string | undefined): void {
  if (port === undefined) return;
  const number = /^[1-9][0-9]{1,4}$/.test(port) ? Number(port) : 0;
  if (number !== 80 && number !== 443 && !(number >= 1_024 && number <= 65_535)) {
    throw invalid("must have the port 80 or 443, or one from 1024 to 65535");
  }
}

function invalid(rule: string): InvalidField {
  return new InvalidField("url", rule);
}
