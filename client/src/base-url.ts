const example = "such as https://petstore.example/v1";

/** The base address without a slash at its end. Refused with a sentence that says what to pass. */
export function readBaseUrl(value: string | URL): string {
  if (value === undefined || value === null || value === "") {
    throw new TypeError(`baseUrl is missing. Pass the base address of the service, ${example}`);
  }
  const text = String(value);
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const hint = `Pass an address that begins with http:// or https://, ${example}`;
    throw new TypeError(`baseUrl "${text}" is not a web address. ${hint}`);
  }
  const url = new URL(text);
  if (url.search || url.hash || url.username || url.password) {
    // Not shown: it may hold a password.
    throw new TypeError(
      `baseUrl must have no query, no fragment and no credentials. Pass the base address alone, ${example}`,
    );
  }
  return checkVersion(url.href.replace(/\/+$/, ""));
}

function checkVersion(address: string): string {
  if (address.endsWith("/v1")) return address;
  const inside = /^(.*\/v1)\//.exec(address)?.[1];
  const hint = inside === undefined ? `${address}/v1` : inside;
  throw new TypeError(`baseUrl must end in /v1, and ${address} does not. Did you mean ${hint}?`);
}
