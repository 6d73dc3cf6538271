import { copyButton } from "./copy.ts";
import { element } from "./element.ts";
import { highlightJson, indentJson } from "./json.ts";

/** Longer response bodies are cut, to save the memory of the page. */
const shownCharactersMax = 20_000;

/** The most useful response headers. The network panel of the browser shows all of them. */
const shownHeaders = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "retry-after",
  "etag",
  "content-location",
  "idempotent-replayed",
  "deprecation",
  "sunset",
  "link",
  "x-stability",
  "x-request-id",
];

export function renderResponse(response: Response, text: string, ms: number): Node[] {
  const statusLine = element("p", "status-line");
  statusLine.append(
    element("span", `status s${String(response.status)[0]}`, String(response.status)),
    ` ${response.statusText} `,
    element("span", "muted", `${Math.round(ms)} ms`),
  );
  const list = element("dl", "response-headers");
  for (const name of shownHeaders) {
    const value = response.headers.get(name);
    if (value === null) continue;
    const row = element("div", "row");
    row.append(element("dt", "", name), element("dd", "", value));
    list.append(row);
  }
  const nodes: Node[] = [statusLine, list];
  if (text !== "") nodes.push(bodyBlock(text));
  return nodes;
}

function bodyBlock(text: string): Node {
  const block = element("div", "code");
  const bar = element("div", "code-bar");
  bar.append(
    element("span", "", "Response body"),
    copyButton("Copy the response body", () => text),
  );
  const pre = element("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "Response body");
  const code = element("code");
  const whole = indentJson(text);
  for (const { kind, text: piece } of highlightJson(whole.slice(0, shownCharactersMax))) {
    code.append(kind === "plain" ? piece : element("span", `token-${kind}`, piece));
  }
  if (whole.length > shownCharactersMax) {
    const rest = (whole.length - shownCharactersMax).toLocaleString("en");
    code.append(`\n… ${rest} more characters. Copy the response to see all of it.`);
  }
  pre.append(code);
  block.append(bar, pre);
  return block;
}
