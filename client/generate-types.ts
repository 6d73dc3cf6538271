/**
 * Generates src/types.ts from openapi.json. With --check it writes nothing and fails if the file is
 * out of date.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The known values. Later versions of the service may send others. */
  readonly "x-error-codes"?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface OpenApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const lineWidthMax = 100;

/** `Error` is a JavaScript global. */
const renamed: Readonly<Record<string, string>> = { Error: "ErrorBody" };

/** Returns the content of src/types.ts for that document. */
export function typesFrom(document: OpenApiDocument): string {
  const blocks = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    declare(name, schema),
  );
  const title = "// Generated from openapi.json by generate-types.ts. Do not edit.";
  return `${[title, declareOperations(document), ...blocks].join("\n\n")}\n`;
}

function declareOperations({ paths }: OpenApiDocument): string {
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  const lines = ids.map((id) => `\n  | ${JSON.stringify(id)}`);
  return `/** The operations of the service, by their \`operationId\` in openapi.json. */\nexport type Operation =${lines.join("")};`;
}

function declare(name: string, schema: Schema): string[] {
  if (schema.enum !== undefined) return [declareValues(name, schema)];
  if (schema.properties === undefined) {
    return [`${comment(schema, "")}export type ${nameOf(name)} = ${typeOf(schema, name)};`];
  }
  const valueTypes: string[] = [];
  const fields = Object.entries(schema.properties).map(([field, property]) => {
    const typeName = name + field[0]?.toUpperCase() + field.slice(1);
    const hasValues = valuesOf(property) !== undefined;
    if (hasValues) valueTypes.push(declareValues(typeName, property));
    const optional = schema.required?.includes(field) ? "" : "?";
    // Listed values get a separate type, which has the description.
    return `${hasValues ? "" : comment(property, "  ")}  readonly ${field}${optional}: ${typeOf(property, typeName)};`;
  });
  const body = [`export interface ${nameOf(name)} {`, ...fields, "}"].join("\n");
  return [...valueTypes, comment(schema, "") + body];
}

/** Declares a type and, for an enumeration, an array of its values for checks at run time. */
function declareValues(name: string, schema: Schema): string {
  const values = (valuesOf(schema) ?? []).filter((value) => value !== null);
  const literals = values.map((value) => JSON.stringify(value));
  const type = `${comment(schema, "")}export type ${nameOf(name)} =`;
  if (schema.enum === undefined) {
    // `string & {}` accepts any string, and editors still suggest the known values.
    return `${type}\n${literals.map((text) => `  | ${text}\n`).join("")}  | (string & {});`;
  }
  const list = `${name[0]?.toLowerCase()}${name.slice(1)}Values`;
  const line = `export const ${list} = [${literals.join(", ")}] as const;`;
  const lines = `export const ${list} = [\n${literals.map((text) => `  ${text},\n`).join("")}] as const;`;
  const declaration = line.length <= lineWidthMax ? line : lines;
  return `${declaration}\n\n${type} (typeof ${list})[number];`;
}

/** Returns the values that a schema lists: all possible ones, or those known so far. */
function valuesOf(schema: Schema): readonly unknown[] | undefined {
  const known = schema["x-error-codes"];
  return schema.enum ?? (known && Object.keys(known));
}

function typeOf(schema: Schema, name: string): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref.split("/").at(-1) ?? "");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map((choice) => typeOf(choice, name)).join(" | ");
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) return "unknown";
  return types.map((type) => simpleTypeOf(type, schema, name)).join(" | ");
}

function simpleTypeOf(type: string, schema: Schema, name: string): string {
  if (valuesOf(schema) !== undefined && type === "string") return nameOf(name);
  switch (type) {
    case "integer":
      // Only a 64-bit integer can exceed the safe integers.
      return schema.format === "int64" && !isSafe(schema) ? "bigint" : "number";
    case "array": {
      const item = typeOf(schema.items ?? {}, name);
      return `readonly ${item.includes(" ") ? `(${item})` : item}[]`;
    }
    case "object":
      return "object";
    default:
      return type;
  }
}

function isSafe(schema: Schema): boolean {
  const { minimum, maximum } = schema as { minimum?: unknown; maximum?: unknown };
  return Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum);
}

function nameOf(name: string): string {
  return renamed[name] ?? name;
}

function comment(schema: Schema, indent: string): string {
  if (schema.description === undefined) return "";
  const lines = schema.description.replaceAll("*/", "* /").split("\n");
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

if (import.meta.main) {
  const document = Bun.file(new URL("../openapi.json", import.meta.url));
  const types = Bun.file(new URL("src/types.ts", import.meta.url));
  const expected = typesFrom(await document.json());
  if (!process.argv.includes("--check")) {
    await Bun.write(types, expected);
  } else if ((await types.text()) !== expected) {
    console.error("client/src/types.ts is out of date; run npm run openapi");
    process.exit(1);
  }
}
