/**
 * Writes the collection of requests for Postman from openapi.json. Bruno, Insomnia and others import the
 * same file. With --check it writes nothing and fails if the file is out of date.
 */

import document from "../openapi.json";
import { joinShortLines } from "./short-lines.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly example: unknown;
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: {
    readonly content: {
      readonly "application/json": {
        readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
      };
    };
  };
}

const shared: Readonly<Record<string, Parameter>> = document.components.parameters;
const paths = document.paths as unknown as Record<string, Record<string, Operation>>;

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    parameters: (operation.parameters ?? []).map((one) =>
      "$ref" in one ? shared[one.$ref.split("/").at(-1)!]! : one,
    ),
  })),
);

type Request = (typeof operations)[number];

/** A parameter of a request. What is optional is listed, but not sent until someone switches it on. */
const field = ({ name, example, description, required }: Parameter) => ({
  key: name,
  value: String(example),
  ...(required ? {} : { disabled: true }),
  description: firstSentence(description),
});

function requestOf({ method, path, summary, description, parameters, requestBody }: Request) {
  const placed = (place: string) => parameters.filter((one) => one.in === place).map(field);
  const query = placed("query");
  const sent = query.filter((one) => !("disabled" in one));
  const names = path.slice(1).replaceAll("{", "{{").replaceAll("}", "}}");
  const search = sent.map(({ key, value }) => `${key}=${value}`).join("&");
  const raw = `{{baseUrl}}/${names}${search && `?${search}`}`;
  const [example] = Object.values(requestBody?.content["application/json"].examples ?? {});
  return {
    name: summary,
    request: {
      method,
      url: query.length > 0 ? { raw, host: ["{{baseUrl}}"], path: names.split("/"), query } : raw,
      header: [...(example ? [contentType] : []), ...placed("header")],
      ...(example ? { body: bodyOf(example.value) } : {}),
      description: firstSentence(description),
    },
  };
}

const contentType = { key: "Content-Type", value: "application/json" };

const bodyOf = (value: unknown) => ({
  mode: "raw",
  raw: JSON.stringify(value, null, 2),
  options: { raw: { language: "json" } },
});

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)![0];
}

/** One variable for each name in a path, so that a value is changed in one place. */
const pathVariables = new Map(
  operations
    .flatMap(({ parameters }) => parameters.filter((one) => one.in === "path"))
    .map(({ name, example }) => [name, String(example)]),
);

const collection = {
  info: {
    name: document.info.title,
    description: `${document.info.summary} Set the variables baseUrl and apiKey first.`,
    schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
  },
  auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] },
  variable: [
    { key: "baseUrl", value: document.servers[0]!.variables.base_url!.default },
    { key: "apiKey", value: "" },
    ...[...pathVariables].map(([key, value]) => ({ key, value })),
  ],
  item: document.tags.map(({ name, description }) => ({
    name,
    description,
    item: operations.filter(({ tags }) => tags[0] === name).map(requestOf),
  })),
};

const name = "examples/petstore.postman_collection.json";
const file = Bun.file(new URL(`../${name}`, import.meta.url).pathname);
const fresh = `${joinShortLines(JSON.stringify(collection, null, 2))}\n`;
if (!process.argv.includes("--check")) {
  await Bun.write(file, fresh);
} else if (!(await file.exists()) || (await file.text()) !== fresh) {
  console.error(`${name} is out of date; run npm run generate`);
  process.exitCode = 1;
}
