/** Code that calls the TypeScript client. Runs on the server and in the browser. */
import type { Trial } from "./request.ts";

/** Writes the value of a field, or undefined if the client cannot send it. */
type Writer = (value: string) => string;

/** A method of the client. */
interface ClientCall {
  readonly method: string;
  /** Fields that are arguments, in order. */
  readonly arguments: Readonly<Record<string, Writer>>;
  /** The part of the body that is the next argument: the whole body, or one of its fields. */
  readonly body: "whole" | "changes";
  /** Fields that are options: the name of the option and how its value is written. */
  readonly options: Readonly<Record<string, readonly [name: string, write: Writer]>>;
}

const text: Writer = (value) => JSON.stringify(value);
const number: Writer = (value) => (/^\d+$/.test(value) ? value : text(value));
const id: Writer = (value) => (/^-?\d+$/.test(value) ? `${value}n` : text(value));
/** The header holds a quoted string, the option its content. */
const idempotencyKey: Writer = (value) => text(value.replace(/^"(.*)"$/, "$1"));

const writes = { "Idempotency-Key": ["idempotencyKey", idempotencyKey] } as const;

/** How the methods of some operations differ from the rule of `callOf`, by the id of the operation. */
const exceptions: Readonly<Record<string, Partial<ClientCall>>> = {
  updateInventory: {
    options: { "If-Match": ["ifMatch", text], "X-Change-Reason": ["reason", text], ...writes },
  },
  applyChanges: { body: "changes", options: writes },
  getLedgerHead: { method: "ledgerHead" },
  getRequest: { arguments: { requestId: text } },
  getSnapshot: { method: "snapshot", arguments: { moment: number } },
  getDiff: { method: "diff", arguments: { moment: number, to: number }, options: {} },
};

/**
 * The method of the client for an operation. It has the name of the operation. Path parameters are its
 * arguments, and query parameters its options.
 */
function callOf({ operation, fields }: Trial): ClientCall {
  const named = (place: string) => fields.filter((field) => field.in === place);
  return {
    method: operation,
    arguments: Object.fromEntries(named("path").map(({ name }) => [name, id])),
    body: "whole",
    options: Object.fromEntries(named("query").map(({ name }) => [name, [name, number]])),
    ...exceptions[operation],
  };
}

const packageName = "petstore-inventory-client";

export function clientSample(trial: Trial, key: string): string {
  const head = [
    `import { PetstoreClient } from ${text(packageName)};`,
    "",
    "const client = new PetstoreClient({",
    `  baseUrl: ${text(trial.base)},`,
    `  apiKey: ${key === "" ? 'process.env.API_KEY ?? ""' : text(key)},`,
    "});",
    "",
  ];
  return [...head, ...(trial.isStream ? watchLines : callLines(trial))].join("\n");
}

const watchLines = [
  "for await (const event of client.watch()) {",
  '  if (event.type === "change") console.log(event.change);',
  "}",
];

function callLines(trial: Trial): string[] {
  const { fields, body } = trial;
  const call = callOf(trial);
  const filled = fields.filter(({ value }) => value !== "");
  const parts: string[] = [];
  for (const [name, write] of Object.entries(call.arguments)) {
    parts.push(write(fields.find((field) => field.name === name)?.value ?? ""));
  }
  const options: string[] = [];
  if (body !== undefined) {
    const read = readSampleBody(body, call.body);
    if (read === undefined) return ["// The request body is not valid."];
    parts.push(read.argument);
    options.push(...read.options);
  }
  const missing: string[] = [];
  for (const { name, value } of filled) {
    const option = call.options[name];
    if (option) options.push(`${option[0]}: ${option[1](value)}`);
    else if (!call.arguments[name]) missing.push(name);
  }
  if (options.length > 0) parts.push(`{ ${options.join(", ")} }`);
  return [
    ...(missing.length > 0 ? [`// The client has no option for ${missing.join(" and ")}.`] : []),
    `const result = await client.${call.method}(${parts.join(", ")});`,
    "console.log(result);",
  ];
}

/** Marks the digits of a number, which become a string so that none of them is lost. */
const numberMark = "\u0000";

/** The argument for the body or for a part of it, and options for its other fields. */
function readSampleBody(body: string, part: "whole" | "changes") {
  const marked = body.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  try {
    JSON.parse(body);
    const parsed: unknown = JSON.parse(marked);
    if (part === "whole") return { argument: literal(parsed, "", ""), options: [] };
    const { changes, ...others } = parsed as Record<string, unknown>;
    if (!Array.isArray(changes)) return undefined;
    return { argument: literal(changes, "", ""), options: literalsOf(others, "") };
  } catch {
    return undefined;
  }
}

const lineCharactersMax = 72;

function literalsOf(fields: object, indent: string): string[] {
  const nameOf = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? key : text(key));
  return Object.entries(fields).map(([key, one]) => `${nameOf(key)}: ${literal(one, key, indent)}`);
}

/** Writes a value as TypeScript, on one line if it is short. A `petId` is a bigint. */
function literal(value: unknown, name: string, indent: string): string {
  if (typeof value === "string") {
    if (!value.startsWith(numberMark)) return text(value);
    return value.slice(1) + (name === "petId" ? "n" : "");
  }
  if (typeof value !== "object" || value === null) return String(value);
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, "", inner))
    : literalsOf(value, inner);
  const [open, close, gap] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  if (items.length === 0) return open + close;
  const line = `${open}${gap}${items.join(", ")}${gap}${close}`;
  if (line.length <= lineCharactersMax && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
