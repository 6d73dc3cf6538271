import { usedSchemas } from "./description.ts";
import { reference, type Schema } from "./schema.ts";
import { mapEntries, type withSharedParts } from "./shared-parts.ts";

/**
 * Converts the description to OpenAPI 3.0, for tools that do not read 3.1. The content is the same, but for
 * the messages of webhooks: 3.0 has no place for them.
 */
export function asOpenApi30({ webhooks: _, ...document }: ReturnType<typeof withSharedParts>) {
  const { summary: _summary, ...info } = document.info;
  const { schemas: all, ...components } = document.components;
  const schemas = usedSchemas([document.paths, components], all);
  return {
    ...document,
    openapi: "3.0.4",
    info,
    paths: convertSchemasIn(document.paths),
    components: {
      ...(convertSchemasIn(components) as typeof components),
      schemas: mapEntries(schemas, (schema: Schema, name) => ({
        ...convertSchema(schema),
        ...(isNullable(name, schemas) && { nullable: true }),
      })),
    },
  };
}

/**
 * Whether some field is this schema or null. In OpenAPI 3.0 a reference cannot be nullable, but the
 * schema that it refers to can.
 */
function isNullable(name: string, schemas: Readonly<Record<string, Schema>>): boolean {
  const { $ref } = reference("schemas", name);
  return Object.values(schemas).some(({ properties = {} }) =>
    Object.values(properties).some(({ anyOf }) => anyOf?.some((one) => one.$ref === $ref)),
  );
}

/** Converts every value under a `schema` key. Examples and exact numbers do not change. */
function convertSchemasIn(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(convertSchemasIn);
  if (typeof node !== "object" || node === null) return node;
  return mapEntries(node, (value: Schema, key) => {
    if (key === "schema") return convertSchema(value);
    return key === "examples" || key === "example" ? value : convertSchemasIn(value);
  });
}

/** Converts JSON Schema 2020-12 to the schema dialect of OpenAPI 3.0. */
function convertSchema(schema: Schema): object {
  // OpenAPI 3.0 ignores everything beside a reference.
  const named = schema.$ref ?? schema.anyOf?.find(({ $ref }) => $ref !== undefined)?.$ref;
  if (named !== undefined) return { $ref: named };
  const { type, const: constant, examples, items, properties, ...same } = schema;
  const types = typeof type === "string" ? [type] : (type ?? []);
  return {
    type: types.find((one) => one !== "null"),
    ...(types.includes("null") && { nullable: true }),
    ...same,
    ...(constant !== undefined && { enum: [constant] }),
    ...(items && { items: convertSchema(items) }),
    ...(properties && { properties: mapEntries(properties, convertSchema) }),
    ...(examples && { example: examples[0] }),
  };
}
