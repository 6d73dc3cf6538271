/** Runs in the browser. Updates the curl commands as the user types, and sends requests. */
import { formatJson } from "./json.ts";
import { buildRequest, curlCommand, type ExampleRequest } from "./request.ts";

const storageKey = "petstore-key";
/** Longer response bodies are cut, to save the memory of the page. */
const shownCharactersMax = 20_000;
/** The most useful response headers. The network panel of the browser shows all of them. */
const shownHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "retry-after",
  "etag",
  "content-location",
  "idempotent-replayed",
  "deprecation",
  "sunset",
  "link",
  "x-stability",
  "x-request-id",
];

const keyForm = document.querySelector<HTMLFormElement>("#key-form")!;
const keyInput = document.querySelector<HTMLInputElement>("#key")!;
const requestForms = [...document.querySelectorAll<HTMLFormElement>("form[data-operation]")];

keyInput.value = sessionStorage.getItem(storageKey) ?? "";
keyInput.addEventListener("input", () => {
  if (keyInput.value === "") sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, keyInput.value.trim());
});
keyForm.addEventListener("reset", () => sessionStorage.removeItem(storageKey));
keyForm.addEventListener("submit", (event) => event.preventDefault());
for (const fieldset of document.querySelectorAll("fieldset")) fieldset.disabled = false;
for (const form of requestForms) prepare(form);

function prepare(form: HTMLFormElement): void {
  const command = form.querySelector<HTMLElement>("[data-curl]")!;
  const copy = form.querySelector<HTMLButtonElement>("[data-copy]")!;
  form.addEventListener("input", () => {
    command.textContent = curlCommand(requestOf(form), "");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
  // Pages loaded over plain HTTP from another machine have no clipboard.
  copy.hidden = navigator.clipboard === undefined;
  copy.addEventListener("click", async () => {
    // Only the copied command contains the key, so a shared screen does not show it.
    await navigator.clipboard.writeText(curlCommand(requestOf(form), keyInput.value.trim()));
    copy.textContent = "Copied";
    setTimeout(() => {
      copy.textContent = "Copy";
    }, 1500);
  });
}

function requestOf(form: HTMLFormElement): ExampleRequest {
  const { method = "", path = "", base = "" } = form.dataset;
  const inputs = [...form.querySelectorAll<HTMLInputElement>("input[data-in]")];
  const fields = inputs.map((input) => ({
    name: input.name,
    in: input.dataset.in ?? "",
    value: input.value,
  }));
  return buildRequest(base, method, path, fields, form.querySelector("textarea")?.value);
}

async function send(form: HTMLFormElement): Promise<void> {
  const result = form.querySelector<HTMLElement>("[data-result]")!;
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]")!;
  const { method, url, headers, body } = requestOf(form);
  // The path alone works behind every proxy: the page has the same origin as the API.
  const { pathname, search } = new URL(url);
  const key = keyInput.value.trim();
  button.disabled = true;
  result.setAttribute("aria-busy", "true");
  const startedAt = performance.now();
  try {
    const response = await fetch(pathname + search, {
      method,
      headers: key === "" ? headers : { ...headers, Authorization: `Bearer ${key}` },
      // The cache of the browser would turn a 304 into a 200.
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    result.replaceChildren(...renderResponse(response, text, performance.now() - startedAt));
  } catch (error) {
    const note = element("p", "note", `Request failed: ${(error as Error).message}`);
    result.replaceChildren(note);
  } finally {
    button.disabled = false;
    result.removeAttribute("aria-busy");
  }
}

function renderResponse(response: Response, text: string, ms: number): Node[] {
  const statusLine = element("p", "status-line");
  const status = element("span", `status s${String(response.status)[0]}`, String(response.status));
  statusLine.append(
    status,
    ` ${response.statusText} `,
    element("span", "type", `${Math.round(ms)} ms`),
  );
  const list = element("dl", "response-headers");
  for (const name of shownHeaders) {
    const value = response.headers.get(name);
    if (value === null) continue;
    const row = element("div", "");
    row.append(element("dt", "", name), element("dd", "", value));
    list.append(row);
  }
  const nodes: Node[] = [statusLine, list];
  if (text !== "") nodes.push(bodyBlock(text));
  return nodes;
}

function bodyBlock(text: string): Node {
  const pre = element("pre", "");
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", "Response body");
  const code = element("code", "");
  for (const { kind, text: piece } of formatJson(text.slice(0, shownCharactersMax))) {
    code.append(kind === "plain" ? piece : element("span", kind, piece));
  }
  if (text.length > shownCharactersMax) {
    code.append(`\n… ${(text.length - shownCharactersMax).toLocaleString("en")} more characters`);
  }
  pre.append(code);
  return pre;
}

function element(tag: string, className: string, text?: string): HTMLElement {
  const created = document.createElement(tag);
  if (className !== "") created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}
