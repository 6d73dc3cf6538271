import type { DescribedContent, describeOperations } from "./description.ts";
import { reference, type Schema } from "./schema.ts";

/** What operations can share. Each kind has the same name in an operation and in `components`. */
type Kind = "parameters" | "responses" | "examples";

interface Part {
  /** Of a parameter. */
  readonly name?: string;
  /** Of an error response. */
  readonly "x-error-codes"?: readonly string[];
  readonly headers?: object;
}

/**
 * Makes the document to publish. It has each parameter, error response and example that several operations
 * have once, in `components`, and is a third as long. A shared response lists the headers of all operations
 * that refer to it.
 */
export function withSharedParts(document: ReturnType<typeof describeOperations>) {
  const { paths, components } = document;
  const shared = { paths: withoutRepeatedExamples(paths, components.schemas), components: {} };
  const parts = (["parameters", "responses", "examples"] as const).reduce(share, shared);
  return { ...document, paths: parts.paths, components: { ...components, ...parts.components } };
}

/** Leaves out an example that is also the example of its schema. */
function withoutRepeatedExamples(paths: unknown, schemas: Readonly<Record<string, Schema>>) {
  return mapParts(paths, "content", (content: DescribedContent) => {
    const { examples, ...rest } = content;
    const [known] = schemas[content.schema.$ref?.split("/").at(-1) ?? ""]?.examples ?? [];
    const others = Object.values(examples).filter(
      ({ value }) => JSON.stringify(value) !== JSON.stringify(known),
    );
    return others.length > 0 ? content : rest;
  });
}

/** Moves the parts of one kind that occur more than once to `components`. */
function share<T extends { readonly components: object }>(tree: T, kind: Kind): T {
  const found: { readonly name: string; readonly part: Part }[] = [];
  mapParts(tree, kind, (part: Part, key) => {
    const name = part.name ?? pascalCase(part["x-error-codes"]?.[0]) ?? key;
    if (kind !== "responses" || part["x-error-codes"]) found.push({ name, part });
    return part;
  });
  const components: Record<string, Part> = {};
  const references = new Map<string, object>();
  for (const [text, same] of Map.groupBy(found, ({ part }) => textOf(part))) {
    if (same.length === 1) continue;
    const [{ name, part }] = same as [(typeof same)[0]];
    let id = name;
    for (let count = 2; id in components; count += 1) id = `${name}${count}`;
    const headers = Object.assign({}, ...same.map((one) => one.part.headers));
    components[id] = kind === "responses" ? { ...part, headers } : part;
    references.set(text, reference(kind, id));
  }
  const rest = mapParts(tree, kind, (part: Part) => references.get(textOf(part)) ?? part) as T;
  return { ...rest, components: { ...rest.components, [kind]: components } };
}

/** Replaces every entry of the objects and lists with this key. */
function mapParts<T>(node: unknown, key: string, replace: (part: T, name: string) => object) {
  const below = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(below);
    return typeof value === "object" && value !== null ? mapEntries(value, entry) : value;
  };
  const entry = (value: unknown, name: string): unknown => {
    // Bounds of int64 in schemas are not plain data.
    if (name === "schema") return value;
    if (name !== key) return below(value);
    return Array.isArray(value)
      ? value.map((part: T) => replace(part, ""))
      : mapEntries(value as object, replace);
  };
  return below(node);
}

function mapEntries<T>(object: object, map: (value: T, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** What shared parts have in common: all but the headers. */
function textOf({ headers: _, ...part }: Part): string {
  return JSON.stringify(part);
}

/** "not_found" becomes "NotFound". */
function pascalCase(code: string | undefined): string | undefined {
  return code?.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
