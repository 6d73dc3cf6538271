import { element, get } from "./element.ts";

/** How long a button says that it copied. */
const copiedMs = 1_500;

/** Creates a button that copies a text, which is made when the button is used. */
export function copyButton(label: string, textOf: () => string): HTMLElement {
  const button = element("button", "button quiet small", "Copy");
  (button as HTMLButtonElement).type = "button";
  button.setAttribute("aria-label", label);
  prepareCopyButton(button, textOf);
  return button;
}

/** Pages loaded over plain HTTP from another machine have no clipboard, so the button stays hidden. */
export function prepareCopyButton(button: HTMLElement, textOf: () => string): void {
  button.hidden = navigator.clipboard === undefined;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      showFor(button, "Copied");
    } catch {
      showFor(button, "Not copied");
    }
  });
}

function showFor(button: HTMLElement, text: string): void {
  button.textContent = text;
  get("#announcement").textContent = text;
  setTimeout(() => {
    button.textContent = "Copy";
    get("#announcement").textContent = "";
  }, copiedMs);
}
