/** The fields that a form checks before it sends a request. The service checks everything else. */
import { get } from "./element.ts";

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Shows a message at a field. An empty message removes it. */
export function showError(control: Control, message: string): void {
  const error = get<HTMLElement>(`#${CSS.escape(`${control.id}-error`)}`);
  error.textContent = message;
  error.hidden = message === "";
  if (message === "") control.removeAttribute("aria-invalid");
  else control.setAttribute("aria-invalid", "true");
}

/** Checks all fields, shows what is wrong, and returns the first field with an error. */
export function findInvalid(controls: readonly Control[]): Control | undefined {
  let first: Control | undefined;
  for (const control of controls) {
    const message = errorOf(control);
    showError(control, message);
    if (message !== "") first ??= control;
  }
  return first;
}

function errorOf(control: Control): string {
  const { name, value, required } = control;
  if (required && value.trim() === "") return `Enter ${name === "body" ? "a request body" : name}.`;
  if (control.dataset.format === "integer" && value !== "" && !/^-?\d+$/.test(value)) {
    return `${name} must be an integer.`;
  }
  if (name === "body" && !isJson(value)) return "The request body must be valid JSON.";
  return "";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
