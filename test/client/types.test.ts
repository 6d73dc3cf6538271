import { describe, expect, test } from "bun:test";
import document from "../../openapi.json";
import { type OpenApiDocument, operationsFrom, typesFrom } from "../../scripts/types.ts";

describe("the generated types", () => {
  test("change when the document does", () => {
    const changed: OpenApiDocument = {
      ...document,
      components: {
        schemas: {
          ...document.components.schemas,
          PetStatus: { type: "string", enum: ["available", "sold"] },
        },
      },
    };
    expect(typesFrom(changed)).not.toBe(typesFrom(document));
  });

  test("support operations, references, optional fields, nullable unions and arrays of them", () => {
    const pages: OpenApiDocument = {
      paths: { "/pages": { get: { operationId: "listPages" }, post: { operationId: "addPage" } } },
      components: {
        schemas: {
          Page: {
            type: "object",
            required: ["items"],
            properties: {
              items: {
                type: "array",
                items: { anyOf: [{ $ref: "#/components/schemas/Error" }, { type: "null" }] },
              },
              count: { type: "integer", format: "int64" },
            },
          },
          Pages: { type: "array", items: { $ref: "#/components/schemas/Page" } },
        },
      },
    };
    const text = typesFrom(pages);
    expect(operationsFrom(pages)).toContain(
      'export type Operation =\n  | "listPages"\n  | "addPage";',
    );
    expect(text).toContain("readonly items: readonly (ErrorBody | null)[];");
    expect(text).toContain("readonly count?: bigint;");
    expect(text).toContain("export type Pages = readonly Page[];");
  });
});
