import { pageOf } from "../../domain/ledger/store.ts";
import { refusedRowJson } from "../../domain/requests/outcomes.ts";
import { withoutKey } from "../../domain/requests/store.ts";
import { errorCodes } from "../../domain/running/errors.ts";
import { jsonList } from "../api/contract/contract.ts";
import { exampleKeyId, exampleRequestId } from "../api/contract/examples.ts";
import { responseObject, type Schema, seq, text, textOrNull } from "../api/contract/schema.ts";
import { nextPage, pageReply } from "../api/list-pages.ts";
import {
  choiceParameter,
  patternParameter,
  readParameter,
  readParameters,
} from "../api/parameters.ts";
import {
  getRequest as apiRequest,
  errorFields,
  exampleError,
  replyOutcome,
} from "../api/requests.ts";
import { queryOf } from "../messages/fields.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { before, limit, rowsPerPage } from "./audit.ts";

const named = { seq: 17, requestId: exampleRequestId, keyId: exampleKeyId, keyName: "Till 3" };

export const refusedSchemas: Readonly<Record<string, Schema>> = {
  RefusedRequest: responseObject(
    "A request that got an error.",
    {
      seq: seq("The number of the row. Numbers have gaps."),
      requestId: text("The `X-Request-Id` of the response."),
      keyId: textOrNull("The ID of the API key, or null if none or an unknown one was sent."),
      keyName: textOrNull("The current name of that key, or null."),
      ...errorFields,
    },
    { ...named, ...exampleError },
  ),
};

const code = choiceParameter("code", errorCodes, "Only this error code.", "invalid_request");
const key = patternParameter(
  "key",
  `^(key_[0-9A-Za-z]{1,32}|${withoutKey})$`,
  `must be the id of a key, or '${withoutKey}'`,
  `Only requests of the API key with this ID. \`${withoutKey}\`: only those without a known key.`,
  exampleKeyId,
);

const listRequests: AdminDeclaration = {
  method: "GET",
  path: "/requests",
  contract: {
    summary: "List refused and failed requests",
    description:
      "Returns requests to the API that got an error, newest first, from all instances. An error is listed within about a second. The service keeps the last 100 of each key and code, and 10,000 in total. A request with a revoked or expired key is listed under that key. If older rows follow, `Link` contains the URL of the next page.",
    parameters: [key, code, before, limit],
    success: { 200: jsonList("One page of them.", "RefusedRequest", { headers: ["NextPage"] }) },
  },
  async handle({ store }, call) {
    const query = queryOf(call.request);
    const size = readParameter(query, limit) ?? rowsPerPage.initial;
    const filter = readParameters(query, { before, keyId: key, code });
    const { rows, next } = pageOf(await store.requests.listRequests(filter, size + 1), size);
    return pageReply(call, { items: rows.map(refusedRowJson), ...nextPage("before", next) });
  },
};

const description = "Returns what became of a request to the API, whichever key has sent it.";

const getRequest: AdminDeclaration = {
  ...apiRequest,
  contract: { ...apiRequest.contract, description },
  handle: (context, { request }) => replyOutcome(context, request),
};

export const refusedOperations = { listRequests, getRequest };
