import type { Schema } from "../api/contract/schema.ts";
import { type Html, html } from "../pages/html.ts";
import { highlightJson, indentJson } from "./browser/json.ts";
import { codeBlock } from "./prose.ts";

/** Renders the type of a value. A named schema becomes a link. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)!;
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    return html`${choices.map((one, at) => html`${at > 0 ? " or " : ""}${typeOf(one)}`)}`;
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
  return constraints.map((text) => html`<span class="constraint muted small">${text}</span>`);
}

export function jsonBlock(value: unknown, label: string): Html {
  const tokens = highlightJson(indentJson(JSON.stringify(value))).map(({ kind, text }) =>
    kind === "plain" ? html`${text}` : html`<span class="token-${kind}">${text}</span>`,
  );
  return codeBlock(tokens, label);
}

function exact(value: unknown): string {
  return JSON.stringify(value).replace(/^-/, "−");
}
