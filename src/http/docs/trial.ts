/** Runs in the browser: keeps the shell lines in step with what is typed, and sends requests. */
import { jsonTokens } from "./json.ts";
import { curlLine, requestFrom, type ShownRequest } from "./request.ts";

const storedAs = "petstore-key";
/** More of an answer than this is not worth a page's memory. */
const shownCharactersMax = 20_000;
/** What tells most about an answer; the network panel of the browser has the rest. */
const shownHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "retry-after",
  "etag",
  "deprecation",
  "sunset",
  "link",
  "x-stability",
  "x-request-id",
];

const keyForm = document.querySelector<HTMLFormElement>("#key-form")!;
const keyInput = document.querySelector<HTMLInputElement>("#key")!;
const trials = [...document.querySelectorAll<HTMLFormElement>("form[data-operation]")];

keyInput.value = sessionStorage.getItem(storedAs) ?? "";
keyInput.addEventListener("input", () => {
  if (keyInput.value === "") sessionStorage.removeItem(storedAs);
  else sessionStorage.setItem(storedAs, keyInput.value.trim());
});
keyForm.addEventListener("reset", () => sessionStorage.removeItem(storedAs));
keyForm.addEventListener("submit", (event) => event.preventDefault());
for (const fieldset of document.querySelectorAll("fieldset")) fieldset.disabled = false;
for (const form of trials) prepare(form);

function prepare(form: HTMLFormElement): void {
  const line = form.querySelector<HTMLElement>("[data-curl]")!;
  const copy = form.querySelector<HTMLButtonElement>("[data-copy]")!;
  form.addEventListener("input", () => {
    line.textContent = curlLine(requestOf(form), "");
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
  // Pages that came over plain HTTP from another machine have no clipboard.
  copy.hidden = navigator.clipboard === undefined;
  copy.addEventListener("click", async () => {
    // The key is put in only here: a page on a projector should not show it.
    await navigator.clipboard.writeText(curlLine(requestOf(form), keyInput.value.trim()));
    copy.textContent = "Copied";
    setTimeout(() => {
      copy.textContent = "Copy";
    }, 1500);
  });
}

function requestOf(form: HTMLFormElement): ShownRequest {
  const { method = "", path = "", base = "" } = form.dataset;
  const inputs = [...form.querySelectorAll<HTMLInputElement>("input[data-in]")];
  const fields = inputs.map((input) => ({
    name: input.name,
    in: input.dataset.in ?? "",
    value: input.value,
  }));
  return requestFrom(base, method, path, fields, form.querySelector("textarea")?.value);
}

async function send(form: HTMLFormElement): Promise<void> {
  const outcome = form.querySelector<HTMLElement>("[data-outcome]")!;
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]")!;
  const { method, url, headers, body } = requestOf(form);
  // The page was served from the same place, whatever a proxy made of its address.
  const { pathname, search } = new URL(url);
  const key = keyInput.value.trim();
  button.disabled = true;
  outcome.setAttribute("aria-busy", "true");
  const startedAt = performance.now();
  try {
    const response = await fetch(pathname + search, {
      method,
      headers: key === "" ? headers : { ...headers, Authorization: `Bearer ${key}` },
      // A 304 is of interest here; the browser's own cache would turn it into a 200.
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    outcome.replaceChildren(...answered(response, text, performance.now() - startedAt));
  } catch (error) {
    const note = element("p", "note", `No answer: ${(error as Error).message}`);
    outcome.replaceChildren(note);
  } finally {
    button.disabled = false;
    outcome.removeAttribute("aria-busy");
  }
}

function answered(response: Response, text: string, ms: number): Node[] {
  const head = element("p", "result");
  const status = element("span", `status s${String(response.status)[0]}`, String(response.status));
  head.append(status, ` ${response.statusText} `, element("span", "type", `${Math.round(ms)} ms`));
  const list = element("dl", "received");
  for (const name of shownHeaders) {
    const value = response.headers.get(name);
    if (value === null) continue;
    const row = element("div", "");
    row.append(element("dt", "", name), element("dd", "", value));
    list.append(row);
  }
  const nodes: Node[] = [head, list];
  if (text !== "") nodes.push(bodyBlock(text));
  return nodes;
}

function bodyBlock(text: string): Node {
  const pre = element("pre", "");
  pre.tabIndex = 0;
  pre.setAttribute("role", "region");
  pre.setAttribute("aria-label", "Body of the answer");
  const code = element("code", "");
  for (const { kind, text: piece } of jsonTokens(text.slice(0, shownCharactersMax))) {
    code.append(kind === "plain" ? piece : element("span", kind, piece));
  }
  if (text.length > shownCharactersMax) {
    code.append(`\n… ${(text.length - shownCharactersMax).toLocaleString("en")} more characters`);
  }
  pre.append(code);
  return pre;
}

function element(tag: string, className: string, text?: string): HTMLElement {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
