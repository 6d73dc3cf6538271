import type { Schema } from "../api/contract/schema.ts";
import { type Html, html } from "../pages/html.ts";
import { formatJson } from "./browser/json.ts";

import { headingLink, inline } from "./prose.ts";

/** Renders the type of a value. A named schema becomes a link. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) {
    return html`${schema.anyOf.map((one, at) => html`${at > 0 ? " or " : ""}${typeOf(one)}`)}`;
  }
  if (schema.type === "array") return html`array of ${typeOf(schema.items ?? {})}`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return html`${types.join(" or ") + format}`;
}

/** Renders the constraints of a value. */
export function constraintsOf(schema: Schema): Html[] {
  const constraints: Html[] = [];
  if (schema.minimum !== undefined && schema.maximum !== undefined) {
    constraints.push(html`From ${exact(schema.minimum)} to ${exact(schema.maximum)}`);
  } else if (schema.minimum !== undefined)
    constraints.push(html`At least ${exact(schema.minimum)}`);
  if (schema.default !== undefined) constraints.push(html`Default: ${exact(schema.default)}`);
  if (schema.enum) {
    constraints.push(
      html`One of ${schema.enum.map((value) => html`<code>${String(value)}</code> `)}`,
    );
  }
  if (schema.const !== undefined)
    constraints.push(html`Always <code>${String(schema.const)}</code>`);
  return constraints.map((text) => html`<span class="constraint">${text}</span>`);
}

/** Renders one named schema: the fields of an object, or the values of an enumeration. */
export function schemaSection(name: string, schema: Schema): Html {
  const names = Object.keys(schema.properties ?? {});
  const fields = Object.entries(schema.properties ?? {}).map(
    ([field, property]) => html`<div class="definition">
      <dt><code>${field}</code> <span class="type">${typeOf(property)}</span>
        ${schema.required?.includes(field) ? "" : html`<span class="type">optional</span>`}</dt>
      <dd>${inline(property.description ?? "")} ${constraintsOf(property)}</dd>
    </div>`,
  );
  const id = `schema-${name}`;
  return html`<section class="schema" id="${id}" aria-labelledby="${id}-title" data-kind="Schema" data-keywords="${names.join(" ")}">
    ${headingLink("h3", id, name)}
    <p>${inline(schema.description ?? "")}</p>
    ${fields.length > 0 ? html`<dl class="fields">${fields}</dl>` : html`<p>${constraintsOf(schema)}</p>`}
    ${schema.examples?.slice(0, 1).map((example) => jsonBlock(example, `${name} example`))}
  </section>`;
}

export function jsonBlock(value: unknown, label: string): Html {
  const tokens = formatJson(JSON.stringify(value)).map(({ kind, text }) =>
    kind === "plain" ? html`${text}` : html`<span class="token-${kind}">${text}</span>`,
  );
  return codeBlock(html`${tokens}`, label);
}

export function textBlock(text: string, label: string): Html {
  return codeBlock(html`${text}`, label);
}

/** A block that scrolls, so it can have the focus and has a name. */
function codeBlock(code: Html, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label="${label}"><code>${code}</code></pre></div>`;
}

function exact(value: unknown): string {
  return JSON.stringify(value).replace(/^-/, "−");
}
