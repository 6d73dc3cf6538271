import { readFileSync } from "node:fs";
import type { Environment } from "../../domain/keys/keys.ts";
import components from "../../kit/components.css" with { type: "text" };
import tokens from "../../kit/tokens.css" with { type: "text" };
import { describeApi } from "../api/contract/document.ts";
import { asOpenApi30 } from "../api/contract/openapi-3-0.ts";
import { withSharedParts } from "../api/contract/shared-parts.ts";
import type { ApiOperation as Operation } from "../api/declaration.ts";
import type { PublicOrigin } from "../messages/public-origin.ts";
import { createFile, onFirstRequest } from "../pages/files.ts";
import { type Page, type Pages, pageHeaders } from "../pages/pages.ts";
import { firstScriptName, referencePage, scriptNames } from "./page.ts";
import style from "./style.css" with { type: "text" };

export interface ReferenceOptions {
  readonly environment: Environment;
  readonly basePath: string;
}

/** Placeholder for the origin of the service. It is replaced by the origin of each request. */
const originPlaceholder = "http://address.invalid";

/** Serves the API description as JSON and as a page. Neither requires a key. */
export function referencePages(operations: readonly Operation[], options: ReferenceOptions): Pages {
  const describe = () =>
    describeApi(operations, [
      {
        url: originPlaceholder + options.basePath,
        description: options.environment === "production" ? "Production" : "Staging",
      },
    ]);
  const page = onFirstRequest(() =>
    withOrigin(referencePage(describe()), { "Content-Type": "text/html; charset=utf-8" }),
  );
  // The documents contain no secrets, so every origin can read them.
  const jsonHeaders = { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" };
  const jsonFile = (document: object) => withOrigin(JSON.stringify(document), jsonHeaders);
  return {
    "/openapi.json": onFirstRequest(() => jsonFile(withSharedParts(describe()))),
    "/openapi-3.0.json": onFirstRequest(() => jsonFile(asOpenApi30(withSharedParts(describe())))),
    "/docs": page,
    "/docs/": page,
    "/docs/style.css": file(tokens + components + style, "text/css; charset=utf-8"),
    "/docs/icon.svg": file(read("icon.svg"), "image/svg+xml"),
    ...Object.fromEntries(
      [firstScriptName, ...scriptNames].map((name) => [`/docs/browser/${name}`, script(name)]),
    ),
  };
}

/** A service has few origins. Made-up Host headers beyond this number only evict cached texts. */
const originsMax = 8;

/** Serves a text that contains the origin of the request. The ETag depends on the origin. */
function withOrigin(text: string, headers: Readonly<Record<string, string>>): Page {
  const files = new Map<string, Page>();
  return (request, reached) => {
    const origin = originOf(request, reached);
    let file = files.get(origin);
    if (!file) {
      if (files.size >= originsMax) files.clear();
      file = createFile(text.replaceAll(originPlaceholder, origin), { ...pageHeaders, ...headers });
      files.set(origin, file);
    }
    return file(request, reached);
  };
}

const plainHost = /^[\w.:[\]-]+$/;

/**
 * Returns the origin of the service as the client sees it. It is written into the page and into samples,
 * so an unusual host is not used.
 */
function originOf(request: Request, { isSecure, hostOf }: PublicOrigin): string {
  const host = hostOf(request) ?? "";
  return `${isSecure(request) ? "https" : "http"}://${plainHost.test(host) ? host : "localhost"}`;
}

/** Serves a TypeScript file as JavaScript. */
function script(name: string): Page {
  // Read now: an upgrade may replace the file while the service runs.
  const text = read(`browser/${name}`);
  return onFirstRequest(() => {
    const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });
    return file(transpiler.transformSync(text), "text/javascript; charset=utf-8");
  });
}

function file(text: string, type: string): Page {
  return createFile(text, { ...pageHeaders, "Content-Type": type });
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
