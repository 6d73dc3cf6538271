import { STATUS_CODES } from "node:http";
import type { DescribedOperation, DescribedResponse } from "../api/contract/document.ts";
import { type Html, html } from "./html.ts";
import { inline, prose } from "./prose.ts";
import { curlLine, requestFrom } from "./request.ts";
import { jsonBlock, rulesOf, typeOf } from "./schema.ts";

export interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

export function operationSection(placed: PlacedOperation, base: string): Html {
  const { path, method, operation } = placed;
  const id = operation.operationId;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
    <header>
      <h2 id="${id}-title">${operation.summary}</h2>
      <p class="address"><span class="method ${method.toLowerCase()}">${method}</span>
        <code>${pathWithBreaks(path)}</code></p>
      ${marks(operation)}
    </header>
    <div class="columns">
      <div class="words">
        ${prose(operation.description)}
        ${parameters(operation)}
        ${requestBody(operation)}
        <h3>Answers</h3>
        ${Object.entries(operation.responses).map(([status, response]) => answer(status, response))}
      </div>
      <div class="trial">${trial(placed, base)}</div>
    </div>
  </section>`;
}

/** Long paths may break before a slash, and nowhere else. */
export function pathWithBreaks(path: string): Html[] {
  return path.split(/(?=\/)/).map((part) => html`${part}<wbr>`);
}

function marks(operation: DescribedOperation): Html {
  const sunset = operation["x-sunset"]?.slice(0, 10);
  const since = operation["x-deprecated-since"]?.slice(0, 10);
  return html`<p class="marks">
    <span class="mark">scope <code>${operation["x-required-scope"]}</code></span>
    ${operation["x-stability"] && html`<span class="mark loud">${operation["x-stability"]}</span>`}
    ${operation.deprecated && html`<span class="mark loud">deprecated since ${since}, gone from ${sunset}</span>`}
  </p>`;
}

function parameters(operation: DescribedOperation): Html | undefined {
  if (!operation.parameters) return undefined;
  return html`<h3>Parameters</h3><dl class="fields">${operation.parameters.map(
    (parameter) => html`<div class="field">
      <dt><code>${parameter.name}</code> <span class="type">${typeOf(parameter.schema)}</span>
        <span class="type">in ${parameter.in}${parameter.required ? ", required" : ""}</span></dt>
      <dd>${inline(parameter.description)} ${rulesOf(parameter.schema)}
        <span class="sample"><code>${String(parameter.example)}</code></span></dd>
    </div>`,
  )}</dl>`;
}

function requestBody(operation: DescribedOperation): Html | undefined {
  const body = operation.requestBody;
  if (!body) return undefined;
  const { schema, examples } = body.content["application/json"];
  return html`<h3>Body</h3>
    <p class="media">${typeOf(schema)} as ${Object.keys(body.content).map((type) => html`<code>${type}</code> `)}</p>
    <p>${inline(body.description)}</p>
    ${Object.values(examples).map(
      ({ summary, value }) => html`<p class="caption">${summary}</p>${jsonBlock(value, summary)}`,
    )}`;
}

function answer(status: string, response: DescribedResponse): Html {
  const content = response.content?.["application/json"];
  const names = Object.entries(response.headers).map(
    ([name, { $ref }]) => html`<a href="#header-${$ref.split("/").at(-1)}">${name}</a> `,
  );
  return html`<details class="answer"${status === "200" && html` open`}>
    <summary><span class="status s${status[0]}">${status}</span>
      <span>${STATUS_CODES[status]}</span></summary>
    <p>${inline(response.description)}</p>
    ${content && html`<p>Body: <span class="type">${typeOf(content.schema)}</span></p>`}
    ${
      content &&
      Object.values(content.examples).map(
        ({ summary, value }) =>
          html`<p class="caption">${summary}</p>${jsonBlock(value, `${status}: ${summary}`)}`,
      )
    }
    <p class="headers">Headers: ${names}</p>
  </details>`;
}

function trial({ path, method, operation }: PlacedOperation, base: string): Html {
  const id = operation.operationId;
  const inputs = operation.parameters ?? [];
  const example = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const body = example[0] ? JSON.stringify(example[0].value) : undefined;
  const fields = inputs.map((parameter) => ({
    name: parameter.name,
    in: parameter.in,
    value: parameter.required ? String(parameter.example) : "",
  }));
  const line = curlLine(requestFrom(base, method, path, fields, body), "");
  return html`<form data-operation="${id}" data-method="${method}" data-path="${path}" data-base="${base}">
    <div class="block">
      <div class="bar"><span id="${id}-curl">Shell</span>
        <button type="button" class="quiet" data-copy hidden>Copy</button></div>
      <pre tabindex="0" role="region" aria-labelledby="${id}-curl"><code data-curl>${line}</code></pre>
    </div>
    <fieldset disabled>
      <legend>Try it</legend>
      ${fields.map(
        (field) => html`<label>${field.name} <span class="type">${field.in}</span>
          <input name="${field.name}" data-in="${field.in}" value="${field.value}" autocomplete="off" spellcheck="false"></label>`,
      )}
      ${
        body !== undefined &&
        html`<label>Body <span class="type">JSON</span>
          <textarea name="body" rows="2" spellcheck="false">${body}</textarea></label>`
      }
      ${method !== "GET" && html`<p class="note">This changes the real stock of this environment.</p>`}
      <button type="submit">Send ${method}</button>
    </fieldset>
    <div class="outcome" role="status" data-outcome></div>
  </form>`;
}
