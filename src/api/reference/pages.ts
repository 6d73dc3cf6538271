import { readFileSync } from "node:fs";
import type { Environment } from "../../domain/keys.ts";
import { describeApi } from "../contract/document.ts";
import { asOpenApi30 } from "../contract/openapi-3-0.ts";
import type { Operation } from "../operations.ts";
import { basePath } from "../routes.ts";
import type { Pages } from "../server.ts";
import { referencePage } from "./page.ts";

export interface ReferenceOptions {
  readonly environment: Environment;
  readonly petsSunsetAt: number;
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
    petsSunsetAt: options.petsSunsetAt,
    servers: [
      {
        url: anywhere + basePath,
        description: options.environment === "production" ? "Production" : "Staging",
      },
    ],
  });
  const json = JSON.stringify(document);
  const json30 = JSON.stringify(asOpenApi30(document));
  const text = referencePage(document);
  // All name the address that was asked, so no cache may hand them to somebody else.
  const answer = (request: Request, text: string, type: string, more = {}) =>
    new Response(text.replaceAll(anywhere, addressOf(request)), {
      headers: { ...guards, ...more, "Content-Type": type, "Cache-Control": "no-store" },
    });
  const page = (request: Request) => answer(request, text, "text/html; charset=utf-8");
  // Free of secrets: pages of any origin may read them.
  const description = (text: string) => (request: Request) =>
    answer(request, text, "application/json", { "Access-Control-Allow-Origin": "*" });
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

function file(text: string, type: string) {
  return () =>
    new Response(text, {
      headers: { ...guards, "Content-Type": type, "Cache-Control": "no-cache" },
    });
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
