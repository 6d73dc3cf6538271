/**
 * Hides passwords and keys in texts that are printed, logged, stored or shown. Nothing else decides what may
 * be one. A text that only looks like a secret is hidden too.
 */

const hidden = "[hidden]";

/**
 * The scheme, the user and the place of an address. It may be mistyped: `s3:/USER:PASSWORD@…`, or without a
 * scheme. A password can contain any character, so it ends at the last `@`.
 */
const addressParts = /^(sqlite:|[^:@]*:[/\\]+)?(?:(.*)@)?([^@]*)$/s;

/** An address without a user may have a password in place of the port. */
const noPort = /^[^/\\:[\]]*:(?![0-9]{1,5}(?:[^\w-]|$)|[/\\])/;

function partsOf(text: string) {
  const [, scheme = "", user, place = ""] = addressParts.exec(text)!;
  const isFile = scheme === "" || scheme === "sqlite:";
  // The name of a file can have an @.
  const secret = user !== undefined && isFile && !/:|%3a|\/\//i.test(user) ? undefined : user;
  return { scheme, place, isFile, secret };
}

/** What may be a user and a password in a value that can hold an address, or undefined. */
export const findUser = (text: string) => partsOf(text).secret;

/** A value that can hold an address, without user, password and query. Of a database, the user stays. */
export function shownAddress(text: string): string {
  if (/^postgres(ql)?:\/\//.test(text)) return shownDatabase(text);
  const { scheme, place, isFile, secret } = partsOf(text);
  const shown = place.replace(isFile ? /[?#].*=.*/s : /[?#].*/s, `?${hidden}`);
  if (secret !== undefined) return `${scheme}${hidden}@${shown}`;
  if (text.includes("@")) return text;
  return scheme + (!isFile && noPort.test(place) ? hidden : shown);
}

/** Parts of the query of a database address that contain no secret. */
const openParameters = new Set(["sslmode", "host", "port", "prepare", "application_name"]);

/** Hides the password and unknown parameters. If there is no user but a port, the host may be a user. */
function shownDatabase(text: string): string {
  const [, scheme, user, host = "", path = "", query] =
    /^(\w+:\/\/)(?:([^/?#@]*)@)?([^/?#@]*)(\/[^/?#@]*)?(?:\?([^#@]*))?$/.exec(text) ?? [];
  if (scheme === undefined) return hidden;
  const shownUser = user === undefined ? "" : `${user.replace(/:.*/s, `:${hidden}`)}@`;
  const shownHost = user === undefined && host.includes(":") ? hidden : host;
  const parameters = [...new URLSearchParams(query)].map(
    ([name, value]) => `${name}=${openParameters.has(name) ? value : hidden}`,
  );
  const shownQuery = parameters.length > 0 ? `?${parameters.join("&")}` : "";
  return `${scheme}${shownUser}${shownHost}${path}${shownQuery}`;
}

/**
 * A database address with a password, or with a word that may be one. A password may contain spaces
 * and `@`, so the pattern extends to the last `@` of the line.
 */
const databases =
  /\b(postgres(?:ql)?:\/\/)(?:[^\n:]*:[^\n]*@|[^\s/:]*:(?![0-9]+(?:[\s/?,']|$)))[^\s'"]*/gi;

/** Hides what may be a password in the addresses of a text, for example of the error of a driver. */
export function withoutAddresses(text: string): string {
  return text
    .replace(databases, `$1${hidden}`)
    .replace(/[^\s'"]+/g, (word) => (/[@?#]|:[/\\]/.test(word) ? shownAddress(word) : word));
}

/**
 * API keys, keys of operators and secrets of webhooks. The prefix stays, which helps to find the key. An
 * id can end with a part of one.
 */
const tokens =
  /(ps[ko]_(?:live|test)_|(?<![0-9a-z])ps[ko]_(?!(?:live|test)_)|whsec_)(?:[\w+/=%-]|\.(?=\w))+/gi;

/** The credentials of a header, with or without its name. Messages say `Bearer <API_KEY>`. */
const credentials = /\b((?:bearer|basic)(?:[ \t]|%20)+)[^\s,;"'<]+/gi;
const authorization =
  /\b((?:proxy-)?authorization["']?[ \t]*[:=](?![ \t]*Bearer <)[ \t]*["']?)[^\r\n"']+/gi;

/** Cookies, and the token of a session as it is in one. */
const cookies = /\b((?:set-)?cookie["']?[ \t]*[:=][ \t]*["']?)[^\r\n"']+/gi;
const sessions = /(petstore_(?:production|staging)=)[^\s,;"']+/g;

/** A password as a parameter: in an address, in a connection string of libpq, or in JSON. */
const passwords =
  /\b((?:pg|ssl)?(?:password|passwd|pwd)["']?[ \t]*[:=][ \t]*)(?:"[^"]*"?|'[^']*'?|[^\s&,;"']+)/gi;

const forms = [passwords, authorization, credentials, cookies, sessions, tokens];

/** Hides everything in a text that has the form of a secret. */
export function withoutSecrets(text: string): string {
  return forms.reduce((left, form) => left.replace(form, `$1${hidden}`), withoutAddresses(text));
}

/** ASCII characters that are percent-encoded, once or several times. Not the space. */
const encoded = /%(?:25)*(?:u00)?(2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi;
const decodingsMax = 10;

/** What can be a key or a token in any form. Characters that are still encoded do not end it. */
const runs = /(?<![\w+=-])(?:[\w+=-](?:%[0-9a-f]{2})*){32,}/gi;

/** Integers, and ids that are no secrets. */
const open =
  /^(?:-?[0-9]+|(?:key|wh|msg)_\w{13}|msg_[0-9a-f]{32}|req_[0-9a-f]{12}_[0-9]{1,16}|ses_[0-9A-Za-z]{1,32}_[0-9a-z]{1,9}_[0-9A-Za-z]{6})$/;

/**
 * Hides everything in a part of a request that can be a key: also a mistyped one, or one in another encoding.
 * Clients send keys in paths, and what is stored of a request is shown to more people than the key.
 */
export function withoutKeys(text: string): string {
  let [before, plain] = ["", text];
  for (let count = 0; plain !== before; count++) {
    if (count === decodingsMax) return hidden;
    before = plain;
    plain = plain.replace(encoded, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  }
  // A name in quotes may be decoded already.
  const joined = plain.replace(/'[^':]*'/g, (name) => name.replace(/\s/g, "%20"));
  const shown = withoutSecrets(joined).replace(runs, (run) => (open.test(run) ? run : hidden));
  return shown === joined ? text : shown;
}
