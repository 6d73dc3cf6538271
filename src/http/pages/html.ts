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

/** A whole page. The kit has a light and a dark style. */
export function htmlPage(title: string, head: Html, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${title}</title>
  <link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
  ${head}
</head>
<body>
  ${body}
</body>
</html>
`.text;
}
