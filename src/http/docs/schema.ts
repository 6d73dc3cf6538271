import type { Schema } from "../api/contract/schemas.ts";
import { type Html, html } from "./html.ts";
import { jsonTokens } from "./json.ts";
import { inline } from "./prose.ts";

/** A value's kind in a few words, with a link where it has a name. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (schema.type === "array") return html`array of ${typeOf(schema.items ?? {})}`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const format = schema.format === undefined ? "" : ` (${schema.format})`;
  return html`${types.join(" or ") + format}`;
}

/** The rules a value has to keep, in words. */
export function rulesOf(schema: Schema): Html[] {
  const rules: Html[] = [];
  if (schema.minimum !== undefined && schema.maximum !== undefined) {
    rules.push(html`${exact(schema.minimum)} to ${exact(schema.maximum)}`);
  } else if (schema.minimum !== undefined) rules.push(html`at least ${exact(schema.minimum)}`);
  if (schema.default !== undefined) rules.push(html`${exact(schema.default)} unless given`);
  if (schema.enum) {
    rules.push(html`one of ${schema.enum.map((value) => html`<code>${String(value)}</code> `)}`);
  }
  if (schema.const !== undefined) rules.push(html`always <code>${String(schema.const)}</code>`);
  return rules.map((rule) => html`<span class="rule">${rule}</span>`);
}

/** The fields of an object, or the values of an enumeration. */
export function schemaSection(name: string, schema: Schema): Html {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([field, property]) => html`<div class="field">
      <dt><code>${field}</code> <span class="type">${typeOf(property)}</span>
        ${schema.required?.includes(field) ? "" : html`<span class="type">optional</span>`}</dt>
      <dd>${inline(property.description ?? "")} ${rulesOf(property)}</dd>
    </div>`,
  );
  return html`<section class="schema" id="schema-${name}">
    <h3>${name}</h3>
    <p>${inline(schema.description ?? "")}</p>
    ${fields.length > 0 ? html`<dl class="fields">${fields}</dl>` : html`<p>${rulesOf(schema)}</p>`}
    ${schema.examples?.slice(0, 1).map((example) => jsonBlock(example, `Example of ${name}`))}
  </section>`;
}

export function jsonBlock(value: unknown, label: string): Html {
  const tokens = jsonTokens(JSON.stringify(value)).map(({ kind, text }) =>
    kind === "plain" ? html`${text}` : html`<span class="${kind}">${text}</span>`,
  );
  return html`<pre tabindex="0" role="region" aria-label="${label}"><code>${tokens}</code></pre>`;
}

function exact(value: unknown): string {
  return JSON.stringify(value).replace(/^-/, "−");
}
