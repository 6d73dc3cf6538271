/** Code that sends a request, in several languages. Runs on the server and in the browser. */
import { buildRequest, type ExampleRequest, type Trial } from "./request.ts";

export type Language = "curl" | "javascript" | "python";

export const languages: Readonly<Record<Language, { title: string; note: string }>> = {
  curl: { title: "curl", note: "Set the variable API_KEY to your key." },
  javascript: {
    title: "JavaScript",
    note: "For Node, Bun and Deno, without a package. Set the variable API_KEY to your key.",
  },
  python: {
    title: "Python",
    note: "Python 3 with urllib from its standard library. Set the variable API_KEY to your key.",
  },
};

/** Returns the code for a request. It contains the key, or without one reads the variable API_KEY. */
export function sampleFor(language: Language, trial: Trial, key: string): string {
  const write = { curl: curlCommand, javascript: javascriptSample, python: pythonSample }[language];
  return write(buildRequest(trial), key, trial.isStream === true);
}

/** `-i` shows the headers, `-N` shows every event of a stream at once. */
function curlCommand(request: ExampleRequest, key: string, isStream: boolean): string {
  const parts = [isStream ? "curl -N" : "curl -i"];
  if (request.method !== "GET") parts[0] += ` -X ${request.method}`;
  const authorization = "Authorization: Bearer ";
  parts.push(`-H ${key === "" ? `"${authorization}$API_KEY"` : shellQuote(authorization + key)}`);
  for (const [name, value] of Object.entries(request.headers)) {
    parts.push(`-H ${shellQuote(`${name}: ${value}`)}`);
  }
  if (request.body !== undefined) parts.push(`-d ${shellQuote(request.body)}`);
  parts.push(shellQuote(request.url));
  return parts.join(" \\\n  ");
}

/** Prints the text of the response, because parsing it would round large ids. */
function javascriptSample(request: ExampleRequest, key: string, isStream: boolean): string {
  const bearer = key === "" ? '"Bearer " + process.env.API_KEY' : quote(`Bearer ${key}`);
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `    ${/^\w+$/.test(name) ? name : quote(name)}: ${quote(value)},`,
  );
  const lines = [
    `const response = await fetch(${quote(request.url)}, {`,
    ...(request.method === "GET" ? [] : [`  method: ${quote(request.method)},`]),
    "  headers: {",
    `    Authorization: ${bearer},`,
    ...headers,
    "  },",
    ...(request.body === undefined ? [] : [`  body: ${javascriptText(request.body)},`]),
    "});",
  ];
  if (!isStream)
    return [...lines, "console.log(response.status, await response.text());"].join("\n");
  const loop = [
    "for await (const text of response.body.pipeThrough(new TextDecoderStream())) {",
    "  console.log(text);",
    "}",
  ];
  return [...lines, ...loop].join("\n");
}

function pythonSample(request: ExampleRequest, key: string, isStream: boolean): string {
  const bearer = key === "" ? '"Bearer " + os.environ["API_KEY"]' : quote(`Bearer ${key}`);
  const headers = Object.entries(request.headers).map(
    ([name, value]) => `        ${quote(name)}: ${quote(value)},`,
  );
  const print = isStream
    ? ["    for line in response:", '        print(line.decode(), end="")']
    : ["    print(response.status, response.read().decode())"];
  return [
    ...(key === "" ? ["import os"] : []),
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${quote(request.url)},`,
    ...(request.method === "GET" ? [] : [`    method=${quote(request.method)},`]),
    "    headers={",
    `        "Authorization": ${bearer},`,
    ...headers,
    "    },",
    ...(request.body === undefined ? [] : [`    data=${pythonText(request.body)}.encode(),`]),
    ")",
    "with urllib.request.urlopen(request) as response:",
    ...print,
  ].join("\n");
}

/** A string in double quotes, as JavaScript and Python read it. */
function quote(text: string): string {
  return JSON.stringify(text);
}

function javascriptText(text: string): string {
  if (!text.includes("\n")) return singleQuoted(text);
  return `\`${text.replace(/[\\`]|\$\{/g, "\\$&")}\``;
}

function pythonText(text: string): string {
  if (!text.includes("\n")) return singleQuoted(text);
  return `"""${text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"').replace(/"$/, '\\"')}"""`;
}

function singleQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
