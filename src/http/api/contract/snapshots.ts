import { inFuture, rowNotFound } from "../../../domain/ledger/moments.ts";
import { momentInvalid, toInvalid } from "../parameters.ts";
import { exampleDifference, exampleItem } from "./examples.ts";
import type { Contract, Parameter } from "./operation.ts";
import { reference } from "./schema.ts";

const momentSchema = {
  type: "string",
  pattern: "^([0-9]{1,16}|[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9:.]+([Zz]|[+-][0-9]{2}:[0-9]{2}))?)$",
} as const;

const momentText =
  "The number of a ledger row (`seq`), or a date or time in ISO 8601 with an offset from UTC. A time includes the changes at that time. A date alone means its start in UTC. `0` is the moment before the first change.";

const momentParameter: Parameter = {
  name: "moment",
  in: "path",
  description: momentText,
  schema: momentSchema,
  example: "2026-11-15T10:00:00Z",
};

const knownTag: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "The `ETag` of the response that you already have, including the quotes.",
  schema: { type: "string" },
  example: '"k3v9x2-1207"',
};

const invalidMoment = { invalid_moment: momentInvalid, future: inFuture("2030-01-01T00:00:00Z") };
const notFound = "The ledger has no row with this number yet.";
const rowMessage = { not_found: rowNotFound(1300, 1207) };

export const getSnapshot: Contract = {
  tag: "History",
  summary: "Get a past inventory",
  description: `Returns the whole inventory as it was at a moment: one entry for each pet, by ascending \`petId\`, in the form of the inventory list. Pets that had no entry then are left out.

The inventory at a ledger row never changes. The inventory at a time can still change until the clock has passed that time. \`Content-Location\` has the URL by ledger row.

The response is streamed. If the service fails in between, it closes the connection, and the JSON text is incomplete.`,
  parameters: [momentParameter, knownTag],
  success: {
    200: {
      description: "The inventory at that moment.",
      headers: ["SnapshotETag", "Content-Location", "CacheCurrent"],
      schema: { type: "array", items: reference("schemas", "InventoryItem") },
      examples: {
        two_pets: {
          summary: "Two pets",
          value: [exampleItem, { petId: 8, quantity: 0, status: "sold" }],
        },
        empty: { summary: "Before the first change", value: [] },
      },
    },
    304: {
      description: "You have this inventory already.",
      headers: ["SnapshotETag", "Content-Location", "CacheCurrent"],
    },
  },
  errors: ["invalid_request", "not_found"],
  messages: { invalid_request: invalidMoment, not_found: rowMessage },
  descriptions: { not_found: notFound },
  headers: ["X-Stability"],
};

export const getDiff: Contract = {
  tag: "History",
  summary: "Compare the inventory at two moments",
  description: `Returns every pet whose quantity or status differs between two moments, by ascending \`petId\`, with its stock at both. A pet that changed and changed back does not appear. \`to\` can be earlier than \`moment\`.

The response is streamed. If the service fails in between, it closes the connection, and the JSON text is incomplete.`,
  parameters: [
    momentParameter,
    {
      name: "to",
      in: "query",
      description: `The second moment. ${momentText}`,
      schema: momentSchema,
      example: "2026-11-15T11:00:00Z",
      required: true,
    },
    knownTag,
  ],
  success: {
    200: {
      description: "The pets whose stock differs.",
      headers: ["SnapshotETag", "Content-Location", "CacheCurrent"],
      schema: { type: "array", items: reference("schemas", "InventoryDifference") },
      examples: {
        changed: {
          summary: "One pet was sold, one is new",
          value: [
            exampleDifference,
            { petId: 8, before: null, after: { quantity: 3, status: "available" } },
          ],
        },
        same: { summary: "No difference", value: [] },
      },
    },
    304: {
      description: "You have this comparison already.",
      headers: ["SnapshotETag", "Content-Location", "CacheCurrent"],
    },
  },
  errors: ["invalid_request", "not_found"],
  messages: {
    invalid_request: { ...invalidMoment, invalid_to: toInvalid },
    not_found: rowMessage,
  },
  descriptions: { not_found: notFound },
  headers: ["X-Stability"],
};
