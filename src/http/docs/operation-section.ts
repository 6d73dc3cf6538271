import { STATUS_CODES } from "node:http";
import type {
  DescribedContent,
  DescribedOperation,
  DescribedResponse,
} from "../api/contract/description.ts";
import { feedType } from "../api/feed.ts";
import { type Html, html } from "../pages/html.ts";
import { codeBlock, headingLink, prose } from "./prose.ts";
import { constraintsOf, jsonBlock, typeOf } from "./schema.ts";
import { type Endpoint, trialForm } from "./trial-form.ts";

export function operationSection(endpoint: Endpoint, base: string): Html {
  const { path, method, operation } = endpoint;
  const id = operation.operationId;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title" data-kind="Operation" data-keywords="${keywordsOf(endpoint)}">
    <header>
      ${headingLink("h2", id, operation.summary)}
      <p class="row endpoint"><span class="method ${method.toLowerCase()}">${method}</span>
        <code>${pathWithBreaks(path)}</code></p>
      ${badges(operation)}
    </header>
    <div class="columns">
      <div class="prose">
        ${prose(operation.description)}
        ${parameters(operation)}
        ${requestBody(operation)}
        <h3>Responses</h3>
        <div class="responses">${Object.entries(operation.responses).map(([status, response]) => responseDetails(status, response))}</div>
      </div>
      <div class="try-it">${trialForm(endpoint, base)}</div>
    </div>
  </section>`;
}

/** What the search finds besides the title. The first two words are the method and the path. */
function keywordsOf({ path, method, operation }: Endpoint): string {
  const names = (operation.parameters ?? []).map(({ name }) => name);
  return [method, path, operation.operationId, operation["x-required-scope"], ...names].join(" ");
}

/** Allows a long path to break before a slash, and only there. */
function pathWithBreaks(path: string): Html[] {
  return path.split(/(?=\/)/).map((part) => html`${part}<wbr>`);
}

function badges(operation: DescribedOperation): Html {
  const sunset = operation["x-sunset"]?.slice(0, 10);
  const since = operation["x-deprecated-since"]?.slice(0, 10);
  return html`<p class="row badges">
    <span class="badge">scope <code>${operation["x-required-scope"]}</code></span>
    ${operation["x-stability"] && html`<span class="badge warning">${operation["x-stability"]}</span>`}
    ${operation.deprecated && html`<span class="badge warning">deprecated since ${since}, removed on ${sunset}</span>`}
  </p>`;
}

function parameters(operation: DescribedOperation): Html | undefined {
  if (!operation.parameters) return undefined;
  return html`<h3>Parameters</h3><dl class="fields">${operation.parameters.map(
    (parameter) => html`<div class="definition">
      <dt><code>${parameter.name}</code> <span class="muted small">${typeOf(parameter.schema)}</span>
        <span class="muted small">in ${parameter.in}${parameter.required ? ", required" : ""}</span></dt>
      <dd>${prose(parameter.description)}${constraintsOf(parameter.schema)}
        <span class="constraint muted small">Example: <code>${String(parameter.example)}</code></span></dd>
    </div>`,
  )}</dl>`;
}

function requestBody(operation: DescribedOperation): Html | undefined {
  const body = operation.requestBody;
  if (!body) return undefined;
  const { schema, examples } = body.content["application/json"];
  return html`<h3>Request body</h3>
    <p class="muted small">${typeOf(schema)} as ${Object.keys(body.content).map((type) => html`<code>${type}</code> `)}</p>
    ${prose(body.description)}
    ${Object.values(examples).map(
      ({ summary, value }) =>
        html`<p class="muted small">${summary}</p>${jsonBlock(value, summary)}`,
    )}`;
}

function responseDetails(status: string, response: DescribedResponse): Html {
  const names = Object.entries(response.headers).map(
    ([name, { $ref }]) =>
      html`<a class="header-name" href="#header-${$ref.split("/").at(-1)}">${name}</a> `,
  );
  return html`<details class="response"${status === "200" && html` open`}>
    <summary class="row"><span class="status s${status[0]}">${status}</span>
      <span>${STATUS_CODES[status]}</span></summary>
    ${prose(response.description)}
    ${Object.entries(response.content ?? {}).map(([type, content]) => responseBody(status, type, content))}
    <p class="muted small">Headers: ${names}</p>
  </details>`;
}

function responseBody(status: string, mediaType: string, content: DescribedContent): Html {
  const isFeed = mediaType === feedType;
  return html`
    ${
      isFeed
        ? html`<p>Body with <code>Accept: ${mediaType}</code>:</p>${prose(content.schema.description ?? "")}`
        : html`<p>Body: <span class="muted small">${typeOf(content.schema)}</span></p>`
    }
    ${Object.entries(content.examples).map(([name, { summary = sentenceCase(name), value }]) => {
      const label = `${status}: ${summary}`;
      return html`<p class="muted small">${summary}</p>${isFeed ? codeBlock(String(value).trim(), label) : jsonBlock(value, label)}`;
    })}`;
}

/** "rate_limit_exceeded" becomes "Rate limit exceeded". */
function sentenceCase(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1).replaceAll("_", " ");
}
