import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Generates the types of the client and of the console from the OpenAPI documents. With --check it
 * writes nothing and fails if a file is out of date.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
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

/** What integers that a number cannot hold become: as their readers parse them. */
export type LongInteger = "bigint" | "string";

/** Returns the types of all schemas of a document, or of those that a text and their own fields name. */
export function typesFrom(
  document: OpenApiDocument,
  longInteger: LongInteger = "bigint",
  usedIn?: string,
): string {
  const declared = new Types(document, longInteger).declareAll();
  const used = usedIn === undefined ? declared : declarationsFor(usedIn, declared);
  return used.join("\n\n");
}

function declarationsFor(text: string, declared: readonly string[]): readonly string[] {
  const left = new Set(declared);
  let using = text;
  for (let known = -1; known !== left.size; ) {
    known = left.size;
    for (const declaration of left) {
      const names = [...declaration.matchAll(/^export \w+ (\w+)/gm)].map(([, name]) => name);
      if (!new RegExp(`\\b(?:${names.join("|")})\\b`).test(using)) continue;
      using += declaration;
      left.delete(declaration);
    }
  }
  return declared.filter((one) => !left.has(one));
}

/** Returns the type of the ids of all operations of a document. */
export function operationsFrom({ paths }: OpenApiDocument): string {
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => `\n  | ${JSON.stringify(operationId)}`),
  );
  return `/** The operations of the service, by their \`operationId\` in openapi.json. */\nexport type Operation =${ids.join("")};`;
}

class Types {
  readonly #schemas: [name: string, schema: Schema][];
  readonly #longInteger: LongInteger;
  /** The names of enumerations, by their values. The same values are one type. */
  readonly #enumerations = new Map<string, string>();

  constructor({ components }: OpenApiDocument, longInteger: LongInteger) {
    this.#schemas = Object.entries(components.schemas);
    this.#longInteger = longInteger;
    for (const [name, schema] of this.#schemas) {
      if (schema.enum) this.#enumerations.set(JSON.stringify(schema.enum), name);
    }
  }

  declareAll(): string[] {
    return this.#schemas.flatMap(([name, schema]) => this.#declare(name, schema));
  }

  #declare(name: string, schema: Schema): string[] {
    if (schema.enum !== undefined) return [declareEnumeration(name, schema)];
    if (schema.properties === undefined) {
      return [`${comment(schema, "")}export type ${nameOf(name)} = ${this.#typeOf(schema, name)};`];
    }
    const base = this.#baseOf(schema);
    const valueTypes: string[] = [];
    const fields = Object.entries(schema.properties)
      .filter(([field]) => base?.[1].properties?.[field] === undefined)
      .map(([field, property]) => {
        const typeName = this.#declareListed(`${name}${capitalized(field)}`, property, valueTypes);
        const optional = schema.required?.includes(field) ? "" : "?";
        // Listed values get a separate type, which has the description.
        const text = valuesOf(property) === undefined ? comment(property, "  ") : "";
        return `${text}  readonly ${field}${optional}: ${this.#typeOf(property, typeName)};`;
      });
    const extension = base ? ` extends ${nameOf(base[0])}` : "";
    const body = [`export interface ${nameOf(name)}${extension} {`, ...fields, "}"].join("\n");
    return [...valueTypes, comment(schema, "") + body, ...declareForm(name, schema)];
  }

  /** The largest schema of which this one has all properties, and more. */
  #baseOf({ properties = {}, required }: Schema): [string, Schema] | undefined {
    const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
    const countOf = (schema: Schema) => Object.keys(schema.properties ?? {}).length;
    return this.#schemas
      .filter(
        ([, schema]) =>
          countOf(schema) >= basePropertiesMin &&
          countOf(schema) < Object.keys(properties).length &&
          Object.entries(schema.properties ?? {}).every(
            ([field, property]) =>
              isSame(property, properties[field]) &&
              schema.required?.includes(field) === required?.includes(field),
          ),
      )
      .sort(([, one], [, other]) => countOf(other) - countOf(one))[0];
  }

  /** Declares the values that a property, its items or one of its choices list. Returns their name. */
  #declareListed(name: string, property: Schema, declared: string[]): string {
    const choices = [property, property.items, ...(property.anyOf ?? [])];
    const listed = choices.find((choice) => choice && valuesOf(choice) !== undefined);
    if (listed === undefined) return name;
    const key = JSON.stringify(valuesOf(listed));
    const known = this.#enumerations.get(key);
    if (known !== undefined) return known;
    this.#enumerations.set(key, name);
    declared.push(declareValues(name, listed));
    return name;
  }

  #typeOf(schema: Schema, name: string): string {
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.$ref !== undefined) return nameOf(schema.$ref.split("/").at(-1) ?? "");
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined) {
      return [...new Set(choices.map((one) => this.#typeOf(one, name)))].join(" | ");
    }
    const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
    if (types.length === 0) return "unknown";
    return types.map((type) => this.#simpleTypeOf(type, schema, name)).join(" | ");
  }

  #simpleTypeOf(type: string, schema: Schema, name: string): string {
    if (valuesOf(schema) !== undefined && type === "string") return nameOf(name);
    switch (type) {
      case "integer":
        // Only a 64-bit integer can exceed the safe integers.
        return schema.format === "int64" && !isSafe(schema) ? this.#longInteger : "number";
      case "array": {
        const item = this.#typeOf(schema.items ?? {}, name);
        return `readonly ${item.includes(" ") ? `(${item})` : item}[]`;
      }
      case "object":
        return "Readonly<Record<string, unknown>>";
      default:
        return type;
    }
  }
}

/** With fewer, that two schemas share them is chance. */
const basePropertiesMin = 3;

/** Declares an enumeration: an array of its values, for checks at run time, and their type. */
function declareEnumeration(name: string, schema: Schema): string {
  const literals = literalsOf(schema);
  const list = `${name[0]?.toLowerCase()}${name.slice(1)}Values`;
  const line = `export const ${list} = [${literals.join(", ")}] as const;`;
  const lines = `export const ${list} = [\n${literals.map((text) => `  ${text},\n`).join("")}] as const;`;
  const declaration = line.length <= lineWidthMax ? line : lines;
  return `${declaration}\n\n${comment(schema, "")}export type ${nameOf(name)} = (typeof ${list})[number];`;
}

/** Declares the type of the values that a property lists. */
function declareValues(name: string, schema: Schema): string {
  const literals = literalsOf(schema);
  // `string & {}` accepts any string, and editors still suggest the known values.
  if (schema.enum === undefined) literals.push("(string & {})");
  const type = `export type ${nameOf(name)} =`;
  const line = `${type} ${literals.join(" | ")};`;
  const lines = `${type}\n${literals.map((text) => `  | ${text}`).join("\n")};`;
  return comment(schema, "") + (line.length <= lineWidthMax ? line : lines);
}

function literalsOf(schema: Schema): string[] {
  const values = (valuesOf(schema) ?? []).filter((value) => value !== null);
  return values.map((value) => JSON.stringify(value));
}

/** Declares the fields of a form for a schema whose properties have titles: their labels. */
function declareForm(name: string, { properties = {} }: Schema): string[] {
  const fields = Object.entries(properties).map(([field, { title, type }]) => {
    const isList = type === "array";
    const isNumber = type?.includes("integer");
    const isRequired = type === "string";
    const kind = isList ? "list" : isNumber ? "number" : "text";
    return title && `  ${fieldText({ name: field, label: title, kind, isRequired })},`;
  });
  if (!fields.every((line) => line)) return [];
  const list = `${name.charAt(0).toLowerCase()}${name.slice(1)}Fields`;
  return [[`export const ${list} = [`, ...fields, "] as const;"].join("\n")];
}

function fieldText(field: object): string {
  const parts = Object.entries(field).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `{ ${parts.join(", ")} }`;
}

/** Returns the values that a schema lists: all possible ones, or those known so far. */
function valuesOf(schema: Schema): readonly unknown[] | undefined {
  const known = schema["x-error-codes"];
  return schema.enum ?? (known && Object.keys(known));
}

function isSafe(schema: Schema): boolean {
  const { minimum, maximum } = schema as { minimum?: unknown; maximum?: unknown };
  return Number.isSafeInteger(minimum) && Number.isSafeInteger(maximum);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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

interface Output {
  readonly document: string;
  readonly types: string;
  readonly longInteger: LongInteger;
  /** Whether the ids of the operations are needed, too. */
  readonly hasOperations?: true;
  /** The files that use the types. Those that none of them names are left out. */
  readonly users?: string;
}

const outputs: readonly Output[] = [
  {
    document: "openapi.json",
    types: "client/src/types.ts",
    longInteger: "bigint",
    hasOperations: true,
  },
  {
    document: "openapi-admin.json",
    types: "src/console/client/types.ts",
    longInteger: "string",
    users: "src/console/**/*.{ts,tsx}",
  },
];

/** What files import from a file, as text. */
async function importsOf(types: string, pattern: string): Promise<string> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const paths = [...new Bun.Glob(pattern).scanSync(root)];
  const texts = await Promise.all(paths.map((path) => Bun.file(`${root}/${path}`).text()));
  const imports = texts.join("\n").match(/^import [^;]+;$/gm) ?? [];
  return imports.filter((text) => text.endsWith(`/${basename(types)}";`)).join("\n");
}

if (import.meta.main) {
  for (const { document, types, longInteger, hasOperations, users } of outputs) {
    const file = Bun.file(new URL(`../${types}`, import.meta.url));
    const content: OpenApiDocument = await Bun.file(
      new URL(`../${document}`, import.meta.url),
    ).json();
    const blocks = [
      `// Generated from ${document} by scripts/types.ts. Do not edit.`,
      ...(hasOperations ? [operationsFrom(content)] : []),
      typesFrom(content, longInteger, users && (await importsOf(types, users))),
    ];
    const expected = `${blocks.join("\n\n")}\n`;
    if (!process.argv.includes("--check")) {
      await Bun.write(file, expected);
    } else if ((await file.text()) !== expected) {
      console.error(`${types} is out of date; run npm run openapi`);
      process.exit(1);
    }
  }
}
