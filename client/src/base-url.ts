const example = "such as https://petstore.example/v1";

/** Checks the base URL and removes trailing slashes. Its errors explain what to pass. */
export function readBaseUrl(value: string | URL): string {
  if (value === undefined || value === null || value === "") {
    throw new TypeError(`baseUrl is missing. Pass the base URL of the service, ${example}`);
  }
  const text = String(value);
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const hint = `Pass a URL that begins with http:// or https://, ${example}`;
    throw new TypeError(`baseUrl "${text}" is not an HTTP URL. ${hint}`);
  }
  const url = new URL(text);
  if (url.search || url.hash || url.username || url.password) {
    // The message does not include the URL, which may contain a password.
    throw new TypeError(
      `baseUrl must not contain a query, a fragment or credentials. Pass only the base URL, ${example}`,
    );
  }
  return checkVersion(url.href.replace(/\/+$/, ""));
}

function checkVersion(url: string): string {
  if (url.endsWith("/v1")) return url;
  const prefix = /^(.*\/v1)\//.exec(url)?.[1];
  const suggestion = prefix === undefined ? `${url}/v1` : prefix;
  throw new TypeError(`baseUrl must end in /v1, but is ${url}. Did you mean ${suggestion}?`);
}
