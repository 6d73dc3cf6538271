import { apiErrorCodes, type ErrorCode } from "../../domain/running/errors.ts";
import type { ApiDocument } from "../api/contract/document.ts";
import { errors, unlistedErrors } from "../api/contract/errors.ts";
import { statusOf } from "../messages/errors.ts";
import { type Html, html } from "../pages/html.ts";
import { headingLink, inline } from "./prose.ts";

const descriptions: Readonly<Partial<Record<ErrorCode, { readonly description: string }>>> = {
  ...errors,
  ...unlistedErrors,
};

/** Lists every error code of the API with its status and what to do about it. */
export function errorCodeSection({ paths }: ApiDocument): Html {
  const responses = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => Object.values(operation.responses));
  const listed = new Set<ErrorCode>(responses.flatMap((one) => one["x-error-codes"] ?? []));
  const described = apiErrorCodes.filter((code) => listed.has(code) || code in unlistedErrors);
  return html`<section class="reference" id="error-codes" aria-labelledby="error-codes-title">
        ${headingLink("h2", "error-codes", "Error codes")}
        <dl class="fields">${described.map(
          (
            code,
          ) => html`<div class="definition" id="error-${code}" data-kind="Error code" data-keywords="${statusOf[code]}">
    <dt><a class="heading-link" href="#error-${code}"><code data-title>${code}</code></a>
      <span class="status s${String(statusOf[code])[0]}">${statusOf[code]}</span></dt>
    <dd>${inline(descriptions[code]?.description ?? "")}</dd>
  </div>`,
        )}</dl>
      </section>`;
}
