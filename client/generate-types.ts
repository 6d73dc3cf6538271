/**
 * Writes src/types.ts from openapi.json. With --check it writes nothing and fails when the committed
 * file is not what the document makes.
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
  /** The values known when the document was written; later versions may send others. */
  readonly "x-error-codes"?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const lineWidthMax = 100;

/** `Error` is taken in every JavaScript program. */
const renamed: Readonly<Record<string, string>> = { Error: "ErrorBody" };

/** The text that src/types.ts has to have for that document. */
export function typesFrom(document: OpenApiDocument): string {
  const blocks = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    declare(name, schema),
  );
  return ["// Made from openapi.json by generate-types.ts; edit that instead.", ...blocks, ""]
    .join("\n\n")
    .replace(/\n+$/, "\n");
}

function declare(name: string, schema: Schema): string[] {
  if (schema.enum !== undefined) return [declareValues(name, schema)];
  if (schema.properties === undefined) {
    return [`${comment(schema, "")}export type ${nameOf(name)} = ${typeOf(schema, name)};`];
  }
  const inner: string[] = [];
  const fields = Object.entries(schema.properties).map(([field, property]) => {
    const own = name + field[0]?.toUpperCase() + field.slice(1);
    const isListed = valuesOf(property) !== undefined;
    if (isListed) inner.push(declareValues(own, property));
    const mark = schema.required?.includes(field) ? "" : "?";
    // A list of values has a type of its own, and the description stands there.
    return `${isListed ? "" : comment(property, "  ")}  readonly ${field}${mark}: ${typeOf(property, own)};`;
  });
  const body = [`export interface ${nameOf(name)} {`, ...fields, "}"].join("\n");
  return [...inner, comment(schema, "") + body];
}

/** An enumeration is also needed when the program runs, to check what arrives. */
function declareValues(name: string, schema: Schema): string {
  const values = (valuesOf(schema) ?? []).filter((value) => value !== null);
  const literals = values.map((value) => JSON.stringify(value));
  const type = `${comment(schema, "")}export type ${nameOf(name)} =`;
  if (schema.enum === undefined) {
    // `string & {}` admits any string, and leaves editors the known ones to suggest.
    return `${type}\n${literals.map((text) => `  | ${text}\n`).join("")}  | (string & {});`;
  }
  const list = `${name[0]?.toLowerCase()}${name.slice(1)}Values`;
  const line = `export const ${list} = [${literals.join(", ")}] as const;`;
  const lines = `export const ${list} = [\n${literals.map((text) => `  ${text},\n`).join("")}] as const;`;
  const shown = line.length <= lineWidthMax ? line : lines;
  return `${shown}\n\n${type} (typeof ${list})[number];`;
}

/** The values a schema lists: all there can be, or those known so far. */
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
      // Only what is declared as 64 bits wide may be past what a number holds exactly.
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
  const fresh = typesFrom(await document.json());
  if (!process.argv.includes("--check")) {
    await Bun.write(types, fresh);
  } else if ((await types.text()) !== fresh) {
    console.error("client/src/types.ts is not what openapi.json makes; run npm run openapi");
    process.exit(1);
  }
}
