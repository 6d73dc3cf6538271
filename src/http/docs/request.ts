/**
 * A request as the reference page shows and sends it. This file runs on the server, which renders
 * the page, and in the browser, which updates the curl command as the user types.
 */
export interface ExampleRequest {
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

/** Builds a request from the fields of a form. Empty query and header fields are omitted. */
export function buildRequest(
  base: string,
  method: string,
  path: string,
  fields: readonly Field[],
  body: string | undefined,
): ExampleRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filledPath = path;
  for (const field of fields) {
    if (field.in === "path") {
      filledPath = filledPath.replace(
        `{${field.name}}`,
        encodeURIComponent(field.value).replaceAll("%3A", ":"),
      );
    } else if (field.value !== "") {
      if (field.in === "query") query.set(field.name, field.value);
      else headers[field.name] = headerText(field.value);
    }
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const search = query.size > 0 ? `?${query}` : "";
  return { method, url: base + filledPath + search, headers, body };
}

/** A header holds only ASCII. `X-Change-Reason` takes other characters percent-encoded. */
function headerText(value: string): string {
  return /^[ -~]*$/.test(value) ? value : encodeURIComponent(value);
}

/**
 * Returns a curl command for the request. Without a key, it reads the variable API_KEY. `-i` shows
 * the headers, `-N` shows every event of a stream at once.
 */
export function curlCommand(
  request: ExampleRequest,
  key: string,
  output: "-i" | "-N" = "-i",
): string {
  const authorization = `"Authorization: Bearer ${key === "" ? "$API_KEY" : key}"`;
  const parts = [`curl ${output}`];
  if (request.method !== "GET") parts[0] += ` -X ${request.method}`;
  parts.push(`-H ${authorization}`);
  for (const [name, value] of Object.entries(request.headers)) {
    parts.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (request.body !== undefined) parts.push(`-d ${shellQuote(request.body)}`);
  parts.push(shellQuote(request.url));
  return parts.join(" \\\n  ");
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
