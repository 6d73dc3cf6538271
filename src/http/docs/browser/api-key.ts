/**
 * The API key that the user entered. It is only in the memory of the page: never in storage, in a
 * cookie or in a URL. Reloading the page forgets it.
 */
import { get } from "./element.ts";

const form = get<HTMLFormElement>("#key-form");
const input = get<HTMLInputElement>("#key");
const panel = get<HTMLElement>("#key-panel");
const button = get<HTMLElement>("#key-button");
const include = get<HTMLInputElement>("#include-key");

export function apiKey(): string {
  return input.value.trim();
}

/** The key for a copied sample. It is empty unless the user chose to include it. */
export function keyForCopies(): string {
  return include.checked ? apiKey() : "";
}

/** Opens the panel, and shows a message at the field. */
export function askForKey(message: string): void {
  panel.showPopover();
  input.setCustomValidity(message);
  input.reportValidity();
}

export function prepareKeyPanel(): void {
  // Some browsers restore fields when a page is reloaded.
  form.reset();
  input.addEventListener("input", update);
  form.addEventListener("reset", () => {
    // The fields are cleared after this event.
    queueMicrotask(() => {
      update();
      input.focus();
    });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    panel.hidePopover();
    button.focus();
  });
  panel.addEventListener("toggle", (event) => {
    if (event.newState === "open") input.focus();
  });
  button.hidden = false;
  update();
}

function update(): void {
  input.setCustomValidity("");
  const isSet = apiKey() !== "";
  button.dataset.state = isSet ? "set" : "missing";
  get("span", button).textContent = isSet ? "API key set" : "Enter API key";
}
