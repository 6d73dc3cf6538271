/**
 * One request as the reference page shows and sends it. This file runs on the server, which writes
 * the page, and in the browser, which keeps the curl line in step with what is typed.
 */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Field {
  readonly name: string;
  readonly in: string;
  readonly value: string;
}

/** Puts the filled-in fields where they belong; an empty one is left out. */
export function requestFrom(
  base: string,
  method: string,
  path: string,
  fields: readonly Field[],
  body: string | undefined,
): ShownRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filled = path;
  for (const field of fields) {
    if (field.in === "path") {
      filled = filled.replace(`{${field.name}}`, encodeURIComponent(field.value));
    } else if (field.value !== "") {
      if (field.in === "query") query.set(field.name, field.value);
      else headers[field.name] = field.value;
    }
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const search = query.size > 0 ? `?${query}` : "";
  return { method, url: base + filled + search, headers, body };
}

/** The line to paste into a shell. Without a key it reads the variable API_KEY. */
export function curlLine(request: ShownRequest, key: string): string {
  const authorization = `"Authorization: Bearer ${key === "" ? "$API_KEY" : key}"`;
  const words = ["curl -i"];
  if (request.method !== "GET") words[0] += ` -X ${request.method}`;
  words.push(`-H ${authorization}`);
  for (const [name, value] of Object.entries(request.headers)) {
    words.push(`-H ${quote(`${name}: ${value}`)}`);
  }
  if (request.body !== undefined) words.push(`-d ${quote(request.body)}`);
  words.push(quote(request.url));
  return words.join(" \\\n  ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
