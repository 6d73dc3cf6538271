import type { ApiDocument } from "../api/contract/document.ts";
import { type HeaderId, headerName } from "../api/contract/headers.ts";
import { type Html, html } from "../pages/html.ts";
import { headingLink, inline } from "./prose.ts";
import { constraintsOf, typeOf } from "./schema.ts";

type Headers = ApiDocument["components"]["headers"];

export function headerSection(headers: Headers): Html {
  return html`<section class="reference" id="headers" aria-labelledby="headers-title">
        ${headingLink("h2", "headers", "Response headers")}
        <dl class="fields">${Object.entries(headers).map(([id, header]) => headerField(id, header))}</dl>
      </section>`;
}

function headerField(id: string, header: Headers[string]): Html {
  return html`<div class="definition" id="header-${id}" data-kind="Header">
    <dt><a class="heading-link" href="#header-${id}"><code data-title>${headerName(id as HeaderId)}</code></a>
      <span class="type">${typeOf(header.schema)}</span></dt>
    <dd>${inline(header.description)} ${constraintsOf(header.schema)}
      ${header.schema.const === undefined && html`<span class="constraint">Example: <code>${header.example}</code></span>`}</dd>
  </div>`;
}
