import { readFileSync } from "node:fs";
import type { Environment } from "../../domain/keys.ts";
import { describeApi } from "../api/contract/document.ts";
import { asOpenApi30 } from "../api/contract/openapi-3-0.ts";
import type { ApiOperation as Operation } from "../api/operations.ts";
import type { Page, Pages } from "../pages.ts";
import { createFile } from "./files.ts";
import { referencePage } from "./page.ts";

export interface ReferenceOptions {
  readonly environment: Environment;
  readonly basePath: string;
}

/** Nothing but this service's own files may load, and the page may speak to nobody else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const guards = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** Stands for the base address in texts that are made once and sent at any address. */
const anywhere = "http://address.invalid";

/** The API description as JSON and as a page. Neither needs a key. */
export function referencePages(operations: readonly Operation[], options: ReferenceOptions): Pages {
  const document = describeApi(operations, {
    servers: [
      {
        url: anywhere + options.basePath,
        description: options.environment === "production" ? "Production" : "Staging",
      },
    ],
  });
  const json = JSON.stringify(document);
  const json30 = JSON.stringify(asOpenApi30(document));
  const text = referencePage(document);
  const page = atAnyAddress(text, { "Content-Type": "text/html; charset=utf-8" });
  // Free of secrets: pages of any origin may read them.
  const description = (text: string) =>
    atAnyAddress(text, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
  return {
    "/openapi.json": description(json),
    "/openapi-3.0.json": description(json30),
    "/docs": page,
    "/docs/": page,
    "/docs/style.css": asset("style.css", "text/css; charset=utf-8"),
    "/docs/icon.svg": asset("icon.svg", "image/svg+xml"),
    "/docs/trial.ts": script("trial.ts"),
    "/docs/request.ts": script("request.ts"),
    "/docs/json.ts": script("json.ts"),
  };
}

/** A service is known by few addresses; whoever invents more only makes us write the text anew. */
const addressesMax = 8;

/** A text that names the address it was asked at. Each address has its own ETag. */
function atAnyAddress(text: string, headers: Readonly<Record<string, string>>): Page {
  const files = new Map<string, Page>();
  return (request) => {
    const address = addressOf(request);
    let file = files.get(address);
    if (!file) {
      if (files.size >= addressesMax) files.clear();
      file = createFile(text.replaceAll(anywhere, address), { ...guards, ...headers });
      files.set(address, file);
    }
    return file(request);
  };
}

const plainHost = /^[\w.:[\]-]+$/;

/**
 * The service's address as the client knows it; a proxy in front tells of its TLS. A Host that is no
 * plain name would end up in a page and in shell lines, so it does not.
 */
function addressOf({ headers }: Request): string {
  const host = headers.get("host") ?? "";
  const isSecure = headers.get("x-forwarded-proto") === "https";
  return `${isSecure ? "https" : "http"}://${plainHost.test(host) ? host : "localhost"}`;
}

/** Scripts are TypeScript here and JavaScript on the wire: their types are stripped at start. */
function script(name: string) {
  return file(
    new Bun.Transpiler({ loader: "ts", target: "browser" }).transformSync(read(name)),
    "text/javascript; charset=utf-8",
  );
}

function asset(name: string, type: string) {
  return file(read(name), type);
}

function file(text: string, type: string): Page {
  return createFile(text, { ...guards, "Content-Type": type });
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
