import { apiErrorCodes, type ErrorCode } from "../../domain/running/errors.ts";
import type { ApiDocument } from "../api/contract/document.ts";
import { errors, unlistedErrors } from "../api/contract/errors.ts";
import { type HeaderId, headerName } from "../api/contract/headers.ts";
import type { Schema } from "../api/contract/schema.ts";
import { webhooks } from "../api/contract/webhooks.ts";
import { statusOf } from "../messages/errors.ts";
import { type Html, html } from "../pages/html.ts";
import { headingLink, prose } from "./prose.ts";
import { constraintsOf, jsonBlock, typeOf } from "./schema.ts";

type Headers = ApiDocument["components"]["headers"];

/** Renders the webhooks, and what the operations share: schemas, response headers and error codes. */
export function referenceSections(document: ApiDocument): Html[] {
  const { schemas, headers } = document.components;
  const headerFields = Object.entries(headers).map(([id, header]) => headerField(id, header));
  const codeFields = describedCodes(document).map(errorCodeField);
  return [
    section("webhooks", "Webhooks", Object.entries(webhooks).map(webhookSection)),
    section(
      "schemas",
      "Schemas",
      Object.entries(schemas).map(([name, schema]) => schemaSection(name, schema)),
    ),
    section("headers", "Response headers", html`<dl class="fields">${headerFields}</dl>`),
    section("error-codes", "Error codes", html`<dl class="fields">${codeFields}</dl>`),
  ];
}

function section(id: string, title: string, content: Html | readonly Html[]): Html {
  return html`<section class="reference" id="${id}" aria-labelledby="${id}-title">
        ${headingLink("h2", id, title)}
        ${content}
      </section>`;
}

/** Renders a request that the service sends. */
function webhookSection([type, { post }]: [string, (typeof webhooks)["test"]]): Html {
  const { operationId: id, summary, description, parameters, requestBody, responses } = post;
  return html`<section class="schema" id="${id}" aria-labelledby="${id}-title" data-kind="Webhook" data-keywords="${type}">
    ${headingLink("h3", id, summary)}
    ${prose(description)}
    <p>Body of type <code>${type}</code>: <span class="muted small">${typeOf(requestBody.content["application/json"].schema)}</span></p>
    <dl class="fields">${parameters.map(
      ({ name, description }) => html`<div class="definition"><dt><code>${name}</code></dt>
        <dd>${prose(description)}</dd></div>`,
    )}</dl>
    ${Object.entries(responses).map(([status, response]) => prose(`Answer with ${status}: ${response.description}`))}
  </section>`;
}

/** Renders one named schema: the fields of an object, or the values of an enumeration. */
function schemaSection(name: string, schema: Schema): Html {
  const names = Object.keys(schema.properties ?? {});
  const fields = Object.entries(schema.properties ?? {}).map(
    ([field, property]) => html`<div class="definition">
      <dt><code>${field}</code> <span class="muted small">${typeOf(property)}</span>
        ${schema.required?.includes(field) ? "" : html`<span class="muted small">optional</span>`}</dt>
      <dd>${prose(property.description ?? "")}${constraintsOf(property)}</dd>
    </div>`,
  );
  const id = `schema-${name}`;
  return html`<section class="schema" id="${id}" aria-labelledby="${id}-title" data-kind="Schema" data-keywords="${names.join(" ")}">
    ${headingLink("h3", id, name)}
    ${prose(schema.description ?? "")}
    ${fields.length > 0 ? html`<dl class="fields">${fields}</dl>` : html`<p>${schema.oneOf && typeOf(schema)} ${constraintsOf(schema)}</p>`}
    ${schema.examples?.slice(0, 1).map((example) => jsonBlock(example, `${name} example`))}
  </section>`;
}

function headerField(id: string, { schema, description, example }: Headers[string]): Html {
  return html`<div class="definition" id="header-${id}" data-kind="Header">
    <dt>${termLink(`header-${id}`, headerName(id as HeaderId))}
      <span class="muted small">${typeOf(schema)}</span></dt>
    <dd>${prose(description)}${constraintsOf(schema)}
      ${schema.const === undefined && html`<span class="constraint muted small">Example: <code>${example}</code></span>`}</dd>
  </div>`;
}

/** The codes that responses of the document have, and those that any response can have. */
function describedCodes({ paths }: ApiDocument): readonly ErrorCode[] {
  const responses = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => Object.values(operation.responses));
  const listed = new Set<ErrorCode>(responses.flatMap((one) => one["x-error-codes"] ?? []));
  return apiErrorCodes.filter((code) => listed.has(code) || code in unlistedErrors);
}

const descriptions: Readonly<Partial<Record<ErrorCode, { readonly description: string }>>> = {
  ...errors,
  ...unlistedErrors,
};

function errorCodeField(code: ErrorCode): Html {
  const status = String(statusOf[code]);
  return html`<div class="definition" id="error-${code}" data-kind="Error code" data-keywords="${status}">
    <dt>${termLink(`error-${code}`, code)}
      <span class="status s${status[0]}">${status}</span></dt>
    <dd>${prose(descriptions[code]?.description ?? "")}</dd>
  </div>`;
}

function termLink(id: string, term: string): Html {
  return html`<a class="heading-link" href="#${id}"><code data-title>${term}</code></a>`;
}
