import { readFileSync } from "node:fs";
import { describeApi } from "../contract/document.ts";
import type { Operation } from "../operations.ts";
import { basePath } from "../routes.ts";
import type { Pages } from "../server.ts";
import { referencePage } from "./page.ts";

export interface ReferenceOptions {
  readonly environment: "production" | "staging";
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

/** The API description as JSON and as a page. Neither needs a key. */
export function referencePages(operations: readonly Operation[], options: ReferenceOptions): Pages {
  const describe = (request: Request) =>
    describeApi(operations, {
      petsSunsetAt: options.petsSunsetAt,
      servers: [
        {
          url: addressOf(request),
          description: options.environment === "production" ? "Production" : "Staging",
        },
      ],
    });
  // Both depend on the address that was asked, so no cache may hand them to somebody else.
  const answer = (text: string, type: string) =>
    new Response(text, {
      headers: { ...guards, "Content-Type": type, "Cache-Control": "no-store" },
    });
  const page = (request: Request) =>
    answer(referencePage(describe(request)), "text/html; charset=utf-8");
  return {
    "/openapi.json": (request) => {
      const response = answer(JSON.stringify(describe(request)), "application/json");
      // Public, and free of secrets: pages of any origin may read it.
      response.headers.set("Access-Control-Allow-Origin", "*");
      return response;
    },
    "/docs": page,
    "/docs/": page,
    "/docs/style.css": asset("style.css", "text/css; charset=utf-8"),
    "/docs/icon.svg": asset("icon.svg", "image/svg+xml"),
    "/docs/trial.ts": script("trial.ts"),
    "/docs/request.ts": script("request.ts"),
    "/docs/json.ts": script("json.ts"),
  };
}

/** The base address as the client knows it; a proxy in front tells of its TLS. */
function addressOf(request: Request): string {
  const url = new URL(request.url);
  const forwarded = request.headers.get("x-forwarded-proto");
  const protocol = forwarded === "https" ? "https:" : url.protocol;
  return `${protocol}//${url.host}${basePath}`;
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
