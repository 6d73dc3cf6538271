import { STATUS_CODES } from "node:http";
import type {
  DescribedContent,
  DescribedOperation,
  DescribedResponse,
} from "../api/contract/document.ts";
import { feedType } from "../api/feed.ts";
import { type Html, html } from "./html.ts";
import { inline, prose } from "./prose.ts";
import { buildRequest, curlCommand } from "./request.ts";
import { constraintsOf, jsonBlock, textBlock, typeOf } from "./schema.ts";

/** An operation with its method and path. */
export interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

export function operationSection(endpoint: Endpoint, base: string): Html {
  const { path, method, operation } = endpoint;
  const id = operation.operationId;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
    <header>
      <h2 id="${id}-title">${operation.summary}</h2>
      <p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span>
        <code>${pathWithBreaks(path)}</code></p>
      ${badges(operation)}
    </header>
    <div class="columns">
      <div class="prose">
        ${prose(operation.description)}
        ${parameters(operation)}
        ${requestBody(operation)}
        <h3>Responses</h3>
        ${Object.entries(operation.responses).map(([status, response]) => responseDetails(status, response))}
      </div>
      <div class="try-it">${requestForm(endpoint, base)}</div>
    </div>
  </section>`;
}

/** Allows a long path to break before a slash, and only there. */
export function pathWithBreaks(path: string): Html[] {
  return path.split(/(?=\/)/).map((part) => html`${part}<wbr>`);
}

function badges(operation: DescribedOperation): Html {
  const sunset = operation["x-sunset"]?.slice(0, 10);
  const since = operation["x-deprecated-since"]?.slice(0, 10);
  return html`<p class="badges">
    <span class="badge">scope <code>${operation["x-required-scope"]}</code></span>
    ${operation["x-stability"] && html`<span class="badge warning">${operation["x-stability"]}</span>`}
    ${operation.deprecated && html`<span class="badge warning">deprecated since ${since}, removed on ${sunset}</span>`}
  </p>`;
}

function parameters(operation: DescribedOperation): Html | undefined {
  if (!operation.parameters) return undefined;
  return html`<h3>Parameters</h3><dl class="fields">${operation.parameters.map(
    (parameter) => html`<div class="field">
      <dt><code>${parameter.name}</code> <span class="type">${typeOf(parameter.schema)}</span>
        <span class="type">in ${parameter.in}${parameter.required ? ", required" : ""}</span></dt>
      <dd>${inline(parameter.description)} ${constraintsOf(parameter.schema)}
        <span class="sample">Example: <code>${String(parameter.example)}</code></span></dd>
    </div>`,
  )}</dl>`;
}

function requestBody(operation: DescribedOperation): Html | undefined {
  const body = operation.requestBody;
  if (!body) return undefined;
  const { schema, examples } = body.content["application/json"];
  return html`<h3>Request body</h3>
    <p class="media">${typeOf(schema)} as ${Object.keys(body.content).map((type) => html`<code>${type}</code> `)}</p>
    <p>${inline(body.description)}</p>
    ${Object.values(examples).map(
      ({ summary, value }) => html`<p class="caption">${summary}</p>${jsonBlock(value, summary)}`,
    )}`;
}

function responseDetails(status: string, response: DescribedResponse): Html {
  const names = Object.entries(response.headers).map(
    ([name, { $ref }]) => html`<a href="#header-${$ref.split("/").at(-1)}">${name}</a> `,
  );
  return html`<details class="response"${status === "200" && html` open`}>
    <summary><span class="status s${status[0]}">${status}</span>
      <span>${STATUS_CODES[status]}</span></summary>
    ${prose(response.description)}
    ${Object.entries(response.content ?? {}).map(([type, content]) => responseBody(status, type, content))}
    <p class="headers">Headers: ${names}</p>
  </details>`;
}

function responseBody(status: string, mediaType: string, content: DescribedContent): Html {
  const isFeed = mediaType === feedType;
  return html`
    ${
      isFeed
        ? html`<p>Body with <code>Accept: ${mediaType}</code>: ${inline(content.schema.description ?? "")}</p>`
        : html`<p>Body: <span class="type">${typeOf(content.schema)}</span></p>`
    }
    ${Object.values(content.examples).map(({ summary, value }) => {
      const label = `${status}: ${summary}`;
      return html`<p class="caption">${summary}</p>${isFeed ? textBlock(String(value).trim(), label) : jsonBlock(value, label)}`;
    })}`;
}

/** A short body on one line, a longer one as a person would write it. */
function bodyText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 40 ? text : JSON.stringify(value, null, 2);
}

/** A command that follows the stream of an operation. The form sends no `Accept`, so it gets JSON. */
function feedCommand({ path, method, operation }: Endpoint, base: string): Html | undefined {
  if (!operation.responses[200]?.content?.[feedType]) return undefined;
  const request = {
    ...buildRequest(base, method, path, [], undefined),
    headers: { Accept: feedType },
  };
  const id = `${operation.operationId}-feed`;
  return html`<div class="block">
    <div class="bar"><span id="${id}">curl, for the feed</span></div>
    <pre tabindex="0" role="region" aria-labelledby="${id}"><code class="command">${curlCommand(request, "", "-N")}</code></pre>
  </div>`;
}

function requestForm(endpoint: Endpoint, base: string): Html {
  const { path, method, operation } = endpoint;
  const id = operation.operationId;
  const examples = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const body = examples[0] ? bodyText(examples[0].value) : undefined;
  const fields = (operation.parameters ?? []).map((parameter) => ({
    name: parameter.name,
    in: parameter.in,
    value: parameter.required ? String(parameter.example) : "",
  }));
  const command = curlCommand(buildRequest(base, method, path, fields, body), "");
  return html`<form data-operation="${id}" data-method="${method}" data-path="${path}" data-base="${base}">
    <div class="block">
      <div class="bar"><span id="${id}-curl">curl</span>
        <button type="button" class="secondary" data-copy hidden>Copy</button></div>
      <pre tabindex="0" role="region" aria-labelledby="${id}-curl"><code class="command" data-curl>${command}</code></pre>
    </div>
    ${feedCommand(endpoint, base)}
    <fieldset disabled>
      <legend>Try it</legend>
      ${fields.map(
        (field) => html`<label>${field.name} <span class="type">${field.in}</span>
          <input name="${field.name}" data-in="${field.in}" value="${field.value}" autocomplete="off" spellcheck="false"></label>`,
      )}
      ${
        body !== undefined &&
        html`<label>Request body <span class="type">JSON</span>
          <textarea name="body" rows="${Math.max(2, body.split("\n").length)}" spellcheck="false">${body}</textarea></label>`
      }
      ${method !== "GET" && html`<p class="note">This request changes the stock in this environment.</p>`}
      <button type="submit">Send ${method}</button>
    </fieldset>
    <div class="result" role="status" data-result></div>
  </form>`;
}
