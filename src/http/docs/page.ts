import type { ApiDocument } from "../api/contract/document.ts";
import { type Html, html, htmlPage } from "../pages/html.ts";
import { operationSection } from "./operation-section.ts";
import { type Chapter, chaptersOf, headingLink, prose } from "./prose.ts";
import { referenceSections } from "./reference.ts";
import { searchDialog, topbar } from "./topbar.ts";
import type { Endpoint } from "./trial-form.ts";

/** The modules of the page. Naming all of them loads them at once, not one after the other. */
export const scriptNames = [
  "main.ts",
  "api-key.ts",
  "copy.ts",
  "element.ts",
  "json.ts",
  "request.ts",
  "response.ts",
  "samples.ts",
  "search.ts",
  "sections.ts",
  "trial.ts",
] as const;

/** A script that runs before the page is drawn. */
export const firstScriptName = "chosen-theme.ts";

/** Renders the API description as HTML. The page is complete before any script runs. */
export function referencePage(document: ApiDocument): string {
  const { info, servers } = document;
  const base = servers[0]!.url;
  const endpoints = endpointsOf(document);
  const head = html`<meta name="description" content="${info.summary}">
  <script src="/docs/browser/${firstScriptName}"></script>
  <link rel="stylesheet" href="/docs/style.css">
  ${scriptNames.map((name) => html`<link rel="modulepreload" href="/docs/browser/${name}">\n  `)}
  <script type="module" src="/docs/browser/${scriptNames[0]}"></script>`;
  const body = html`<a class="skip-link" href="#content">Skip to content</a>
  <div class="app">
    ${topbar(info.title)}
    ${sidebar(document, endpoints)}
    <main class="content" id="content" tabindex="-1">
      ${overview(document, base)}
      ${endpoints.map((endpoint) => operationSection(endpoint, base))}
      ${referenceSections(document)}
    </main>
  </div>
  ${searchDialog()}
  <p class="visually-hidden" id="announcement" role="status"></p>`;
  return htmlPage(`${info.title} API ${info.version}`, head, body);
}

function overview({ info, servers }: ApiDocument, base: string): Html {
  const [before, ...chapters] = chaptersOf(info.description);
  return html`<section class="overview" aria-labelledby="title">
        <h1 id="title">${info.title} API</h1>
        <p class="lead">${info.summary}</p>
        <dl class="facts">
          <div><dt class="muted small">Base URL</dt><dd><code>${base}</code></dd></div>
          <div><dt class="muted small">Environment</dt><dd>${servers[0]!.description}</dd></div>
          <div><dt class="muted small">Version</dt><dd>${info.version}</dd></div>
          <div><dt class="muted small">OpenAPI</dt><dd><a href="/openapi.json">3.1</a>, <a href="/openapi-3.0.json">3.0</a></dd></div>
          <div><dt class="muted small">Contact</dt><dd>${info.contact.name}</dd></div>
          <div><dt class="muted small">License</dt><dd><a href="${info.license.url}" rel="license noreferrer">${info.license.name}</a></dd></div>
        </dl>
        <noscript><p class="notice">Search and sending requests from this page require JavaScript. The samples work without it.</p></noscript>
        <div class="prose">${prose(before)}</div>
        ${chapters.map(chapterSection)}
      </section>`;
}

function chapterSection({ id, title, text }: Chapter): Html {
  return html`<section class="chapter prose" id="${id}" aria-labelledby="${id}-title" data-kind="Section">
          ${headingLink("h2", id, title)}
          ${prose(text)}
        </section>`;
}

/** All operations, those of one tag together, in the order of the tags. */
function endpointsOf({ paths, tags }: ApiDocument): Endpoint[] {
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([name, operation]) => {
      return { path, method: name.toUpperCase(), operation };
    }),
  );
  return tags.flatMap(({ name }) =>
    endpoints.filter(({ operation }) => operation.tags.some((tag) => tag === name)),
  );
}

/** Renders the table of contents. On a phone, the menu button opens it. */
function sidebar(document: ApiDocument, endpoints: readonly Endpoint[]): Html {
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
