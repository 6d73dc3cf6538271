import type { DescribedContent, describeOperations } from "./description.ts";
import { reference, type Schema } from "./schema.ts";

/** A parameter, a response or an example. Only responses have headers. */
type Part = object & { readonly headers?: object };

/**
 * Makes the document to publish. Parameters, error responses and examples that several operations share are
 * listed once, in `components`, which makes the document a third as long. A shared response lists the
 * headers of all operations that refer to it.
 */
export function withSharedParts(document: ReturnType<typeof describeOperations>) {
  const { paths, components } = document;
  const operations = Object.values(paths).flatMap((here) => Object.values(here));
  const parameters = share(
    "parameters",
    operations.flatMap((operation) => operation.parameters ?? []).map((one) => [one.name, one]),
  );
  const responses = share(
    "responses",
    operations.flatMap((operation) =>
      Object.values(operation.responses).flatMap((one) => {
        const [code] = one["x-error-codes"] ?? [];
        return code ? [[pascalCase(code), one] as const] : [];
      }),
    ),
  );
  const shortPaths = mapEntries(paths, (here: (typeof paths)[string]) =>
    mapEntries(here, (operation: (typeof operations)[number]) => ({
      ...operation,
      ...(operation.parameters && { parameters: operation.parameters.map(parameters.replace) }),
      responses: mapEntries(operation.responses, responses.replace),
    })),
  );
  const found: [string, Part][] = [];
  const own = mapParts([shortPaths, responses.components], "content", (one: DescribedContent) => {
    const content = withoutRepeatedExamples(one, components.schemas);
    found.push(...Object.entries(content.examples ?? {}));
    return content;
  });
  const examples = share("examples", found);
  const [allPaths, allResponses] = mapParts(own, "examples", examples.replace) as object[];
  return {
    ...document,
    paths: allPaths!,
    components: {
      ...components,
      parameters: parameters.components,
      responses: allResponses!,
      examples: examples.components,
    },
  };
}

/** Leaves out an example that is also the example of its schema. */
function withoutRepeatedExamples(
  content: DescribedContent,
  schemas: Readonly<Record<string, Schema>>,
): Partial<DescribedContent> {
  const { examples, ...rest } = content;
  const [known] = schemas[content.schema.$ref?.split("/").at(-1) ?? ""]?.examples ?? [];
  const text = JSON.stringify(known);
  const isRepeated = Object.values(examples).every(({ value }) => JSON.stringify(value) === text);
  return isRepeated ? rest : content;
}

/** Finds the parts that occur more than once, and names them. `replace` returns a reference to such a part. */
function share(
  kind: "parameters" | "responses" | "examples",
  found: readonly (readonly [name: string, part: Part])[],
) {
  const components: Record<string, Part> = {};
  const references = new Map<Part, Part>();
  for (const same of Map.groupBy(found, ([, part]) => textOf(part)).values()) {
    const [[name, part]] = same as [(typeof same)[0]];
    if (same.length === 1) continue;
    let id = name;
    for (let count = 2; id in components; count += 1) id = `${name}${count}`;
    const headers = Object.assign({}, ...same.map(([, one]) => one.headers));
    components[id] = part.headers ? { ...part, headers } : part;
    for (const [, one] of same) references.set(one, reference(kind, id));
  }
  return { components, replace: (part: Part) => references.get(part) ?? part };
}

/** Replaces every entry of the objects that are under this key. */
function mapParts<T>(node: unknown, key: string, replace: (part: T) => object): unknown {
  if (Array.isArray(node)) return node.map((one) => mapParts(one, key, replace));
  if (typeof node !== "object" || node === null) return node;
  return mapEntries(node, (value: object, name) => {
    // Bounds of int64 in schemas are not plain data.
    if (name === "schema") return value;
    return name === key ? mapEntries(value, replace) : mapParts(value, key, replace);
  });
}

/** The same keys with other values. */
export function mapEntries<T>(object: object, map: (value: T, key: string) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** Parts with the same text are shared. Their headers may differ. */
function textOf({ headers: _, ...part }: Part): string {
  return JSON.stringify(part);
}

/** "not_found" becomes "NotFound". */
function pascalCase(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
