/** Text that is already HTML. It is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Part[];

/** Template tag for HTML. Escapes every value, except the results of this function. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = texts[0]!;
  parts.forEach((part, index) => {
    text += render(part) + texts[index + 1]!;
  });
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(render).join("");
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
