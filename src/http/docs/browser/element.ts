/** Creates an element with a class and a text. Text is never parsed as HTML. */
export function element(tag: string, className = "", text?: string): HTMLElement {
  const created = document.createElement(tag);
  if (className !== "") created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

/** Returns an element of the page that the server always renders. */
export function get<T extends Element>(selector: string, parent: ParentNode = document): T {
  const found = parent.querySelector<T>(selector);
  if (!found) throw new Error(`The page has no ${selector}.`);
  return found;
}
