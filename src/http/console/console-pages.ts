import { readFileSync } from "node:fs";
import type { Environment } from "../../domain/keys/keys.ts";
import { hasSessionCookie } from "../admin/session-cookie.ts";
import { pathNotFound } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { createFile } from "../pages/files.ts";
import { type Page, type Pages, pageHeaders, toResponse } from "../pages/pages.ts";
import { consolePage, missingConsolePage, startPage } from "./page.ts";

/** The files of a build of the console, as dist/console/manifest.json lists them. */
export interface ConsoleManifest {
  /** The script that the page loads first. It loads the others when they are needed. */
  readonly script: string;
  readonly style: string;
  /** All files. A name contains a hash of the content, so a file with a name never changes. */
  readonly files: readonly string[];
}

const securityHeaders = {
  ...pageHeaders,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The name contains a hash of the content, so a browser never has to ask again. */
const immutable = "public, max-age=31536000, immutable";

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

const assetsPath = "/console/assets";

/**
 * Serves the console and the page at `/`. None of them requires a key: their requests do. `onMissing` is
 * called if the console is not built, when somebody first opens it.
 */
export function consolePages(environment: Environment, onMissing: () => void): Pages {
  const build = readBuild();
  const style = build ? `${assetsPath}/${build.manifest.style}` : "/docs/style.css";
  const pages = { "/": startOrConsole(environment, style) };
  if (!build) {
    const missing = missingConsole(onMissing);
    return { ...pages, "/console": missing, "/console/*": missing };
  }
  const { manifest, files } = build;
  const page = html(consolePage(environment, `${assetsPath}/${manifest.script}`, style));
  const assets = Object.entries(files).map(([name, text]) => {
    const type = types[name.slice(name.lastIndexOf(".") + 1)]!;
    const headers = { ...securityHeaders, "Content-Type": type };
    return [`${assetsPath}/${name}`, createFile(text, headers, immutable)] as const;
  });
  return {
    ...pages,
    "/console": page,
    "/console/*": page,
    [`${assetsPath}/*`]: () => toResponse(errorReply("not_found", pathNotFound)),
    ...Object.fromEntries(assets),
  };
}

/** Leads browsers that have signed in to the console, and others to the page with the links. */
function startOrConsole(environment: Environment, style: string): Page {
  const start = html(startPage(environment, style));
  return (request, origin) =>
    hasSessionCookie(request, environment)
      ? new Response(null, {
          status: 302,
          headers: { ...securityHeaders, Location: "/console", "Cache-Control": "no-store" },
        })
      : start(request, origin);
}

const htmlHeaders = { ...securityHeaders, "Content-Type": "text/html; charset=utf-8" };

function html(text: string): Page {
  return createFile(text, htmlHeaders);
}

function missingConsole(onMissing: () => void): Page {
  let isReported = false;
  return () => {
    if (!isReported) onMissing();
    isReported = true;
    const headers = { ...htmlHeaders, "Cache-Control": "no-store" };
    return new Response(missingConsolePage(), { status: 503, headers });
  };
}

interface Build {
  readonly manifest: ConsoleManifest;
  /** The texts of the files, by name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Where the build is: in a single executable (bin/build-binary), and in a checkout or a package. */
const folders = ["./console/", "../../../dist/console/"];

/** Reads all files now, because an upgrade may replace them while the service runs. */
function readBuild(): Build | undefined {
  for (const folder of folders) {
    const read = (name: string) => readFileSync(new URL(folder + name, import.meta.url), "utf8");
    try {
      const manifest = JSON.parse(read("manifest.json")) as ConsoleManifest;
      const files = Object.fromEntries(manifest.files.map((name) => [name, read(name)]));
      return { manifest, files };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return undefined;
}
