import type { Environment } from "../../domain/keys/keys.ts";
import { html, htmlPage } from "../pages/html.ts";

const productName = "Pet Store Inventory";

/** Renders the page of the console. Scripts fill it: without them it says so. */
export function consolePage(environment: Environment, script: string, style: string): string {
  const head = html`<link rel="stylesheet" href="${style}">
  <script type="module" src="${script}"></script>`;
  const body = html`<div id="console" data-environment="${environment}"></div>
  <noscript>
    <main class="content stack">
      <h1>Console</h1>
      <p>The console needs JavaScript. Turn it on for this site, or use the command line: <code>petstore help</code>.</p>
    </main>
  </noscript>`;
  return htmlPage(`Console – ${productName}`, head, body);
}

/** What the console shows if its files are missing. */
export function missingConsolePage(): string {
  return htmlPage(
    `Console – ${productName}`,
    docsStyle,
    html`<main class="content stack prose">
    <h1>The console is not built</h1>
    <p>The API works, but the files of the console are missing. Run <code>npm run build:console</code> in the folder of the service, and start the service again.</p>
    <p><a href="/docs">API reference</a></p>
  </main>`,
  );
}

/** The page at `/`, for people who have only the address of the service. */
export function startPage(environment: Environment, style: string): string {
  const staging = html`<span class="badge warning">Staging</span>`;
  return htmlPage(
    productName,
    html`<link rel="stylesheet" href="${style}">`,
    html`<main class="gate">
    <div class="start stack">
    <h1>${productName} ${environment === "staging" && staging}</h1>
    <p class="lead">Tracks and updates the stock of a pet store.</p>
    <div class="grid">
      <section class="card stack">
        <h2>Console</h2>
        <p class="muted">For the people who run the store: stock, changes, keys and backups. Needs an operator key.</p>
        <p><a class="button primary" href="/console">Open the console</a></p>
      </section>
      <section class="card stack">
        <h2>API reference</h2>
        <p class="muted">For developers: every operation with examples, and a form to try it.</p>
        <p><a class="button" href="/docs">Read the documentation</a></p>
      </section>
    </div>
    </div>
  </main>`,
  );
}

/** The style sheet of /docs contains the kit and exists without a build. */
const docsStyle = html`<link rel="stylesheet" href="/docs/style.css">`;
