import type { ApiDocument } from "../api/contract/document.ts";
import { type Html, html } from "../pages/html.ts";
import { chaptersOf } from "./prose.ts";
import type { Endpoint } from "./trial-form.ts";

/** Renders the table of contents. On a phone, the menu button opens it. */
export function sidebar(document: ApiDocument, endpoints: readonly Endpoint[]): Html {
  const [, ...chapters] = chaptersOf(document.info.description);
  return html`<nav class="sidebar" id="contents" popover aria-label="Contents">
      <button type="button" class="button quiet small menu-close" popovertarget="contents" popovertargetaction="hide">Close</button>
      <p class="nav-title">Overview</p>
      <ul class="nav-list">${chapters.map(({ id, title }) => link(id, title))}</ul>
      ${document.tags.map(
        ({ name }) => html`<p class="nav-title">${name}</p>
      <ul class="nav-list">${endpoints.filter(({ operation }) => operation.tags.some((tag) => tag === name)).map(operationLink)}</ul>`,
      )}
      <p class="nav-title">Reference</p>
      <ul class="nav-list">
        ${link("webhooks", "Webhooks")}${link("schemas", "Schemas")}${link("headers", "Response headers")}${link("error-codes", "Error codes")}
      </ul>
    </nav>`;
}

function link(id: string, title: string): Html {
  return html`<li><a href="#${id}">${title}</a></li>`;
}

function operationLink({ method, operation }: Endpoint): Html {
  return html`<li><a href="#${operation.operationId}"><span class="method ${method.toLowerCase()}">${method}</span>
        <span class="${operation.deprecated ? "deprecated" : "name"}">${operation.summary}</span></a></li>`;
}
