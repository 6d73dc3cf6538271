/** The forms of the operations: keeps the samples up to date as the user types, and sends requests. */
import { apiKey, askForKey, keyForCopies } from "./api-key.ts";
import { prepareCopyButton } from "./copy.ts";
import { element, get } from "./element.ts";
import { buildRequest, type Trial } from "./request.ts";
import { renderResponse } from "./response.ts";
import { type Language, sampleFor } from "./samples.ts";

/** Enables a form, which the server renders disabled for browsers without JavaScript. */
export function prepareForm(form: HTMLFormElement): void {
  get<HTMLFieldSetElement>("fieldset[disabled]", form).disabled = false;
  form.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLInputElement && target.type === "radio") return;
    if (target instanceof HTMLTextAreaElement) checkBody(target);
    for (const code of form.querySelectorAll<HTMLElement>("[data-sample] [data-language]")) {
      get("code", code).textContent = sampleOf(form, code, "");
    }
  });
  // The browser checks the fields. It cannot show what is wrong in a closed group.
  form.addEventListener(
    "invalid",
    ({ target }) => {
      const group = (target as Element).closest("details");
      if (group) group.open = true;
    },
    { capture: true },
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
  for (const sample of form.querySelectorAll<HTMLElement>("[data-sample]")) {
    prepareCopyButton(get<HTMLElement>("[data-copy]", sample), () => {
      const language = get<HTMLInputElement>("input[type=radio]:checked", sample).value;
      const shown = get<HTMLElement>(`[data-language=${language}]`, sample);
      return sampleOf(form, shown, keyForCopies());
    });
  }
}

/** The language that is chosen for one sample applies to all of them. */
export function prepareLanguages(): void {
  const radios = "[data-sample] input[type=radio]";
  const choices = [...document.querySelectorAll<HTMLInputElement>(radios)];
  document.addEventListener("change", ({ target }) => {
    const chosen = choices.find((choice) => choice === target)?.value;
    if (chosen === undefined) return;
    // The chosen sample stays where it is on the screen, though those above it change their height.
    const top = (target as Element).getBoundingClientRect().top;
    for (const choice of choices) choice.checked = choice.value === chosen;
    const moved = (target as Element).getBoundingClientRect().top - top;
    window.scrollBy({ top: moved, behavior: "instant" });
  });
}

/** A body that is not JSON is never sent: the error of the service would only name a position. */
function checkBody(body: HTMLTextAreaElement): void {
  let message = "";
  try {
    JSON.parse(body.value);
  } catch {
    message = "The request body must be valid JSON.";
  }
  body.setCustomValidity(message);
}

function trialOf(form: HTMLFormElement): Trial {
  const { method = "", path = "", base = "" } = form.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-in]")].map(
    ({ name, dataset, value }) => ({ name, in: dataset.in ?? "", value }),
  );
  return { base, method, path, fields, body: form.querySelector("textarea")?.value };
}

/** The sample of a feed has no fields, because the form sends requests for pages only. */
function sampleOf(form: HTMLFormElement, shown: HTMLElement, key: string): string {
  const trial = trialOf(form);
  const isStream = shown.closest("[data-stream]") !== null;
  const used = isStream ? { ...trial, fields: [], isStream } : trial;
  return sampleFor(shown.dataset.language as Language, used, key);
}

async function send(form: HTMLFormElement): Promise<void> {
  const key = apiKey();
  if (!/^[!-~]+$/.test(key)) {
    askForKey(key === "" ? "Enter your API key to send requests." : "This is not an API key.");
    return;
  }
  const result = get<HTMLElement>("[data-result]", form);
  const button = get<HTMLButtonElement>("button[type=submit]", form);
  const { method, url, headers, body } = buildRequest(trialOf(form));
  // The path alone works behind every proxy: the page has the same origin as the API.
  const { pathname, search } = new URL(url);
  button.disabled = true;
  result.setAttribute("aria-busy", "true");
  const startedAt = performance.now();
  try {
    const response = await fetch(pathname + search, {
      method,
      headers: { ...headers, Authorization: `Bearer ${key}` },
      // The cache of the browser would turn a 304 into a 200.
      cache: "no-store",
      credentials: "omit",
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    result.replaceChildren(...renderResponse(response, text, performance.now() - startedAt));
  } catch (error) {
    const text = `Request failed: ${(error as Error).message}`;
    result.replaceChildren(element("p", "notice danger", text));
  } finally {
    button.disabled = false;
    result.removeAttribute("aria-busy");
    result.scrollIntoView({ block: "nearest" });
  }
}
