import type { ApiDocument } from "../api/contract/document.ts";
import { type Header, type HeaderId, headerName } from "../api/contract/headers.ts";
import { type Html, html } from "./html.ts";
import { type Endpoint, operationSection, pathWithBreaks } from "./operation.ts";
import { headingsOf, inline, prose } from "./prose.ts";
import { constraintsOf, schemaSection, typeOf } from "./schema.ts";

/** Renders the API description as HTML. The page is complete before any script runs. */
export function referencePage(document: ApiDocument): string {
  const { info, servers, components } = document;
  const base = servers[0]!.url;
  const endpoints = endpointsOf(document);
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="description" content="${info.summary}">
  <title>${info.title} API ${info.version}</title>
  <link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/docs/style.css">
  <script type="module" src="/docs/trial.ts"></script>
</head>
<body>
  <a class="skip" href="#content">Skip to content</a>
  ${contents(document, endpoints)}
  <main id="content">
    <section class="overview" aria-labelledby="title">
      <h1 id="title">${info.title}</h1>
      <p class="lead">${info.summary}</p>
      <dl class="facts">
        <div><dt>Base URL</dt><dd><code>${base}</code></dd></div>
        <div><dt>Environment</dt><dd>${servers[0]!.description}</dd></div>
        <div><dt>Version</dt><dd>${info.version}</dd></div>
        <div><dt>OpenAPI</dt><dd><a href="/openapi.json">3.1</a>, <a href="/openapi-3.0.json">3.0</a></dd></div>
        <div><dt>Contact</dt><dd>${info.contact.name}</dd></div>
        <div><dt>License</dt><dd><a href="${info.license.url}" rel="license noreferrer">${info.license.name}</a></dd></div>
      </dl>
      <div class="prose">${prose(info.description)}</div>
    </section>
    ${keyForm()}
    ${endpoints.map((endpoint) => operationSection(endpoint, base))}
    <section class="reference" aria-labelledby="schemas">
      <h2 id="schemas">Schemas</h2>
      ${Object.entries(components.schemas).map(([name, schema]) => schemaSection(name, schema))}
    </section>
    <section class="reference" aria-labelledby="headers">
      <h2 id="headers">Response headers</h2>
      <dl class="fields">${Object.entries(components.headers).map(([id, header]) => headerField(id, header))}</dl>
    </section>
  </main>
</body>
</html>
`.text;
}

/** All operations, those of one tag together, in the order of the tags. */
function endpointsOf({ paths, tags }: ApiDocument): Endpoint[] {
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
  return tags.flatMap(({ name }) => endpoints.filter(({ operation }) => hasTag(operation, name)));
}

function hasTag({ tags }: Endpoint["operation"], name: string): boolean {
  return tags.some((tag) => tag === name);
}

function contents(document: ApiDocument, endpoints: readonly Endpoint[]): Html {
  return html`<nav aria-label="Contents">
    <p class="brand"><a href="#content">${document.info.title}</a></p>
    <p class="group">Overview</p>
    <ul>${headingsOf(document.info.description).map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
      <li><a href="#key-title">Try the API</a></li></ul>
    ${document.tags.map(
      ({ name }) => html`<p class="group">${name}</p>
    <ul class="endpoints">${endpoints.filter(({ operation }) => hasTag(operation, name)).map(link)}</ul>`,
    )}
    <p class="group">Reference</p>
    <ul><li><a href="#schemas">Schemas</a></li><li><a href="#headers">Response headers</a></li></ul>
  </nav>`;
}

function link({ path, method, operation }: Endpoint): Html {
  return html`<li><a href="#${operation.operationId}">
        <span class="method ${method.toLowerCase()}">${method}</span>
        <span class="${operation.deprecated ? "deprecated" : "path"}">${pathWithBreaks(path)}</span></a></li>`;
}

function keyForm(): Html {
  return html`<section class="api-key" aria-labelledby="key-title">
    <h2 id="key-title">Try the API</h2>
    <p id="key-note">Enter your API key to send requests from this page. The page keeps the key in this browser tab and
      sends it only to this service. The key is deleted when you close the tab.</p>
    <form id="key-form"><fieldset disabled>
      <label for="key">API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="psk_…" aria-describedby="key-note">
      <button type="reset" class="secondary">Clear</button>
    </fieldset></form>
    <noscript><p class="note">Sending requests from this page requires JavaScript. The curl commands work without it.</p></noscript>
  </section>`;
}

function headerField(id: string, header: Header): Html {
  return html`<div class="field" id="header-${id}">
    <dt><code>${headerName(id as HeaderId)}</code> <span class="type">${typeOf(header.schema)}</span></dt>
    <dd>${inline(header.description)} ${constraintsOf(header.schema)}
      ${header.schema.const === undefined && html`<span class="sample">Example: <code>${header.example}</code></span>`}</dd>
  </div>`;
}
