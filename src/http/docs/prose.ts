import { type Html, html } from "../pages/html.ts";

/**
 * Renders the part of Markdown that the API description uses: paragraphs, second-level headings,
 * tables, code blocks without empty lines, `code` and *emphasis*. A test fails if a description
 * uses more.
 */
export function prose(text: string): Html[] {
  return text.split("\n\n").map(block);
}

/** Renders a text with headings: what stands before the first one, then a section for each. */
export function chapters(text: string): Html[] {
  const [before = "", ...rest] = text.split(/^## /m);
  const sections = rest.map((chapter) => {
    const end = chapter.indexOf("\n");
    const title = chapter.slice(0, end);
    const id = anchor(title);
    return html`<section class="chapter prose" id="${id}" aria-labelledby="${id}-title" data-kind="Section">
          ${headingLink("h2", id, title)}
          ${prose(chapter.slice(end).trim())}
        </section>`;
  });
  return [html`<div class="prose">${prose(before.trim())}</div>`, ...sections];
}

/** Returns the headings of a text with their anchors, for a table of contents. */
export function headingsOf(text: string): { id: string; title: string }[] {
  return [...text.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => ({ id: anchor(title), title }));
}

/** A heading that is a link to its section, so that readers can copy the address. */
export function headingLink(tag: "h2" | "h3", id: string, title: string): Html {
  const link = html`<a class="heading-link" href="#${id}" data-title>${title}</a>`;
  return tag === "h2"
    ? html`<h2 id="${id}-title">${link}</h2>`
    : html`<h3 id="${id}-title">${link}</h3>`;
}

/** Renders the text of one paragraph. */
export function inline(text: string): Html[] {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map((piece) => {
    if (piece.startsWith("`")) return html`<code>${piece.slice(1, -1)}</code>`;
    if (piece.startsWith("*")) return html`<em>${piece.slice(1, -1)}</em>`;
    return html`${piece}`;
  });
}

function block(text: string): Html {
  if (text.startsWith("|")) return table(text.split("\n"));
  if (text.startsWith("```")) return codeBlock(text.split("\n").slice(1, -1).join("\n"), "Example");
  return html`<p>${inline(text)}</p>`;
}

/** A block that scrolls, so it can have the focus and has a name. */
export function codeBlock(code: string | readonly Html[], label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`;
}

function table(lines: readonly string[]): Html {
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [head = "", , ...rows] = lines;
  return html`<div class="table-wrap"><table class="table">
    <thead><tr>${cells(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
