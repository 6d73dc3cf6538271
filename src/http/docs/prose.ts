import { Html, html } from "../pages/html.ts";

/** Renders Markdown. What looks like HTML is text: descriptions contain words such as `<API_KEY>`. */
export function prose(markdown: string): Html {
  const text = Bun.markdown.html(markdown, { noHtmlBlocks: true, noHtmlSpans: true });
  const [codeStart = "", codeEnd = ""] = codeBlock("\n", "Example").text.split("\n");
  return new Html(
    text
      .replaceAll("<table>", '<div class="table-wrap"><table class="table">')
      .replaceAll("</table>", "</table></div>")
      .replaceAll(/<pre><code[^>]*>/g, codeStart)
      .replaceAll("</code></pre>", codeEnd),
  );
}

export interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Splits a text at its headings: what stands before the first one, then a chapter for each. */
export function chaptersOf(markdown: string): readonly [before: string, ...Chapter[]] {
  const [before = "", ...rest] = markdown.split(/^## /m);
  const chapters = rest.map((chapter) => {
    const [title = ""] = chapter.split("\n", 1);
    const id = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    return { id, title, text: chapter.slice(title.length) };
  });
  return [before, ...chapters];
}

/** A heading that is a link to its section, so that readers can copy the address. */
export function headingLink(tag: "h2" | "h3", id: string, title: string): Html {
  const link = html`<a class="heading-link" href="#${id}" data-title>${title}</a>`;
  return tag === "h2"
    ? html`<h2 id="${id}-title">${link}</h2>`
    : html`<h3 id="${id}-title">${link}</h3>`;
}

/** A block that scrolls, so it can have the focus and has a name. */
export function codeBlock(code: string | readonly Html[], label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`;
}
