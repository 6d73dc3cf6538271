/** Code that calls the TypeScript client. Runs on the server and in the browser. */
import type { Trial } from "./request.ts";

/** Writes the value of a field, or undefined if the client cannot send it. */
type Writer = (value: string) => string;

interface ClientCall {
  readonly method: string;
  /** The name of the variable for the result. */
  readonly result: string;
  /** Fields that are arguments, in order. */
  readonly arguments?: Readonly<Record<string, Writer>>;
  /** The part of the body that is the next argument: the whole body, or one of its fields. */
  readonly body?: "whole" | "changes";
  /** Fields that are options: the name of the option and how its value is written. */
  readonly options?: Readonly<Record<string, readonly [name: string, write: Writer]>>;
}

const text: Writer = (value) => JSON.stringify(value);
const number: Writer = (value) => (/^\d+$/.test(value) ? value : text(value));
const id: Writer = (value) => (/^-?\d+$/.test(value) ? `${value}n` : text(value));
/** The header holds a quoted string, the option its content. */
const idempotencyKey: Writer = (value) => text(value.replace(/^"(.*)"$/, "$1"));

const range = {
  limit: ["limit", number],
  after: ["after", number],
  since: ["since", text],
  until: ["until", text],
} as const;

/** By the id of the operation. The client has a method for each. */
const calls: Readonly<Record<string, ClientCall>> = {
  listInventory: { method: "listInventory", result: "items" },
  getInventory: { method: "getInventory", result: "entry", arguments: { petId: id } },
  updateInventory: {
    method: "updateInventory",
    result: "entry",
    arguments: { petId: id },
    body: "whole",
    options: {
      "If-Match": ["ifMatch", text],
      "Idempotency-Key": ["idempotencyKey", idempotencyKey],
      "X-Change-Reason": ["reason", text],
    },
  },
  listHistory: {
    method: "listHistory",
    result: "page",
    arguments: { petId: id },
    options: { ...range, before: ["before", number] },
  },
  listChanges: {
    method: "listChanges",
    result: "page",
    options: { ...range, cause: ["cause", text], key: ["key", text] },
  },
  applyChanges: {
    method: "applyChanges",
    result: "entries",
    body: "changes",
    options: { "Idempotency-Key": ["idempotencyKey", idempotencyKey] },
  },
  getLedgerHead: { method: "ledgerHead", result: "head" },
  getSnapshot: { method: "snapshot", result: "items", arguments: { moment: number } },
  getDiff: { method: "diff", result: "differences", arguments: { moment: number, to: number } },
  getPet: { method: "getPet", result: "pet", arguments: { petId: id } },
  listOrders: {
    method: "listOrders",
    result: "page",
    options: { limit: ["limit", number], after: ["after", id] },
  },
};

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
  const call = calls[trial.operation];
  if (!call) return "// The client has no method for this operation.";
  return [...head, ...(trial.isStream ? watchLines : callLines(call, trial))].join("\n");
}

const watchLines = [
  "for await (const event of client.watch()) {",
  '  if (event.type === "change") console.log(event.change);',
  "}",
];

function callLines(call: ClientCall, { fields, body }: Trial): string[] {
  const filled = fields.filter(({ value }) => value !== "");
  const parts: string[] = [];
  for (const [name, write] of Object.entries(call.arguments ?? {})) {
    parts.push(write(fields.find((field) => field.name === name)?.value ?? ""));
  }
  if (call.body !== undefined) {
    const argument = bodyArgument(body ?? "", call.body);
    if (argument === undefined) return ["// The request body is not valid."];
    parts.push(argument);
  }
  const options: string[] = [];
  const missing: string[] = [];
  for (const { name, value } of filled) {
    const option = call.options?.[name];
    if (option) options.push(`${option[0]}: ${option[1](value)}`);
    else if (!call.arguments?.[name]) missing.push(name);
  }
  if (options.length > 0) parts.push(`{ ${options.join(", ")} }`);
  return [
    ...(missing.length > 0 ? [`// The client has no option for ${missing.join(" and ")}.`] : []),
    `const ${call.result} = await client.${call.method}(${parts.join(", ")});`,
    `console.log(${call.result});`,
  ];
}

/** Marks the digits of a number, which become a string so that none of them is lost. */
const numberMark = "\u0000";

function bodyArgument(body: string, part: "whole" | "changes"): string | undefined {
  const marked = body.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000${token}"`,
  );
  try {
    JSON.parse(body);
    const parsed: unknown = JSON.parse(marked);
    if (part === "whole") return literal(parsed, "", "");
    const changes = (parsed as { changes?: unknown } | null)?.changes;
    return Array.isArray(changes) ? literal(changes, "", "") : undefined;
  } catch {
    return undefined;
  }
}

const lineCharactersMax = 72;

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
    : Object.entries(value).map(
        ([key, item]) =>
          `${/^[A-Za-z_]\w*$/.test(key) ? key : text(key)}: ${literal(item, key, inner)}`,
      );
  const [open, close, gap] = Array.isArray(value) ? ["[", "]", ""] : ["{", "}", " "];
  if (items.length === 0) return open + close;
  const line = `${open}${gap}${items.join(", ")}${gap}${close}`;
  if (line.length <= lineCharactersMax && !line.includes("\n")) return line;
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}
