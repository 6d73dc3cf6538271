import type { DescribedOperation } from "../api/contract/description.ts";
import { feedType } from "../api/feed.ts";
import { type Html, html } from "../pages/html.ts";
import type { Trial } from "./browser/request.ts";
import { type Language, languages, sampleFor } from "./browser/samples.ts";

/** An operation with its method and path. */
export interface Endpoint {
  readonly path: string;
  readonly method: string;
  readonly operation: DescribedOperation;
}

type Parameter = NonNullable<DescribedOperation["parameters"]>[number];

/** Renders the samples of an operation and the form that sends it. */
export function trialForm({ path, method, operation }: Endpoint, base: string): Html {
  const id = operation.operationId;
  const parameters = operation.parameters ?? [];
  const examples = Object.values(operation.requestBody?.content["application/json"].examples ?? {});
  const body = examples[0] ? bodyText(examples[0].value) : undefined;
  const fields = parameters.map((parameter) => ({
    name: parameter.name,
    in: parameter.in,
    value: initialValue(parameter),
  }));
  const trial: Trial = { base, method, path, fields, body };
  const hasFeed = operation.responses[200]?.content?.[feedType] !== undefined;
  const required = parameters.filter((parameter) => parameter.required);
  const optional = parameters.filter((parameter) => !parameter.required);
  return html`<form class="stack" data-operation="${id}" data-method="${method}" data-path="${path}" data-base="${base}">
    ${sampleBlock(trial, id, operation.summary)}
    ${hasFeed && sampleBlock({ ...trial, fields: [], isStream: true }, `${id}-feed`, `${operation.summary}, as a feed`)}
    <fieldset class="card stack" disabled>
      <legend class="visually-hidden">Try it: ${operation.summary}</legend>
      <p class="card-title" aria-hidden="true">Try it</p>
      ${required.map((parameter) => parameterField(id, parameter))}
      ${body !== undefined && bodyField(id, body)}
      ${
        optional.length > 0 &&
        html`<details class="optional"><summary class="row">Optional parameters</summary>
        <div class="stack">${optional.map((parameter) => parameterField(id, parameter))}</div></details>`
      }
      ${method !== "GET" && html`<p class="notice warning">This request changes the stock in this environment.</p>`}
      <button type="submit" class="button primary">Send request</button>
    </fieldset>
    <div class="result" role="status" data-result></div>
  </form>`;
}

/** Shows one language at a time. This works without JavaScript: the style sheet reads the choice. */
function sampleBlock(trial: Trial, id: string, summary: string): Html {
  const entries = Object.entries(languages) as [Language, (typeof languages)[Language]][];
  return html`<div class="code sample" data-sample${trial.isStream === true && html` data-stream`}>
      <div class="code-bar">
        <fieldset class="tabs"><legend class="visually-hidden">Language: ${summary}</legend>${entries.map(
          ([language, { title }], index) =>
            html`<label class="tab"><input type="radio" name="${id}-language" value="${language}"${index === 0 && html` checked`}>${title}</label>`,
        )}</fieldset>
        <button type="button" class="button quiet small" data-copy aria-label="Copy the sample: ${summary}" hidden>Copy</button>
      </div>
      ${entries.map(
        ([language, { title, note }]) => html`<div data-language="${language}">
        <pre tabindex="0" role="group" aria-label="${title}: ${summary}"><code>${sampleFor(language, trial, "")}</code></pre>
        <p class="code-note">${note}</p></div>`,
      )}
    </div>`;
}

function parameterField(operation: string, parameter: Parameter): Html {
  const { name, in: place, required, schema } = parameter;
  const id = `${operation}-${name}`;
  const attributes = html`id="${id}" name="${name}" data-in="${place}"${required && html` required`}`;
  const integer =
    schema.type === "integer" && html` pattern="-?[0-9]+" title="An integer" inputmode="numeric"`;
  return html`<div class="field">
        <label for="${id}">${name} <span class="muted">${place}${required ? ", required" : ""}</span></label>
        ${
          schema.enum
            ? html`<select class="select" ${attributes}><option value=""></option>${schema.enum.map((value) => html`<option>${String(value)}</option>`)}</select>`
            : html`<input class="input mono" ${attributes}${integer} value="${initialValue(parameter)}" autocomplete="off" spellcheck="false">`
        }
      </div>`;
}

function bodyField(operation: string, body: string): Html {
  const id = `${operation}-body`;
  return html`<div class="field">
        <label for="${id}">Request body <span class="muted">JSON, required</span></label>
        <textarea class="input mono" id="${id}" name="body" rows="${Math.max(2, body.split("\n").length)}" spellcheck="false" required>${body}</textarea>
      </div>`;
}

function initialValue(parameter: Parameter): string {
  return parameter.required ? String(parameter.example) : "";
}

/** A short body on one line, a longer one as a person would write it. */
function bodyText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 40 ? text : JSON.stringify(value, null, 2);
}
