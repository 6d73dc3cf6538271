/**
 * A request as the reference page shows and sends it. This file runs on the server, which renders
 * the page, and in the browser, which updates the samples as the user types.
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

/** An operation with the values of its form. */
export interface Trial {
  /** The base URL of the API. */
  readonly base: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly fields: readonly Field[];
  readonly body: string | undefined;
  /** The request asks for the feed instead of a page of changes. */
  readonly isStream?: boolean;
}

/** Builds the request of a form. Empty query and header fields are omitted. */
export function buildRequest(trial: Trial): ExampleRequest {
  const { base, method, path, fields, body, isStream } = trial;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filledPath = path;
  for (const field of fields) {
    if (field.in === "path") {
      const value = encodeURIComponent(field.value).replaceAll("%3A", ":");
      filledPath = filledPath.replace(`{${field.name}}`, value);
    } else if (field.value !== "") {
      if (field.in === "query") query.set(field.name, field.value);
      else headers[field.name] = headerText(field.value);
    }
  }
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (isStream) headers.Accept = "text/event-stream";
  const search = query.size > 0 ? `?${query}` : "";
  return { method, url: base + filledPath + search, headers, body };
}

/** A header holds only ASCII. `X-Change-Reason` takes other characters percent-encoded. */
function headerText(value: string): string {
  return /^[ -~]*$/.test(value) ? value : encodeURIComponent(value);
}
