import { type Html, html } from "./html.ts";

/**
 * Renders the part of Markdown that the API description uses: paragraphs, second-level headings,
 * tables, code blocks without empty lines, `code` and *emphasis*. A test fails if a description
 * uses more.
 */
export function prose(text: string): Html[] {
  return text.split("\n\n").map(block);
}

/** Returns the headings of a text with their anchors, for a table of contents. */
export function headingsOf(text: string): { id: string; title: string }[] {
  return [...text.matchAll(/^## (.+)$/gm)].map(([, title = ""]) => ({ id: anchor(title), title }));
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
  if (text.startsWith("## ")) {
    const title = text.slice(3);
    return html`<h2 id="${anchor(title)}">${title}</h2>`;
  }
  if (text.startsWith("|")) return table(text.split("\n"));
  if (text.startsWith("```")) return codeBlock(text.split("\n").slice(1, -1).join("\n"));
  return html`<p>${inline(text)}</p>`;
}

function codeBlock(code: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="Example"><code class="command">${code}</code></pre>`;
}

function table(lines: readonly string[]): Html {
  const cells = (line: string) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [head = "", , ...rows] = lines;
  return html`<div class="scrollable"><table>
    <thead><tr>${cells(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function anchor(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}
