import { join, normalize } from "node:path";
import { browser } from "../browser.ts";
import type { Project } from "./package.ts";

/** Serves the installed package to a browser. The service must allow this origin. */
export class PackageSite {
  readonly #server: Bun.Server<undefined>;

  constructor(project: Project) {
    const root = join(project.folder, "node_modules", "petstore-inventory-client", "dist", "esm");
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/") return new Response("<!doctype html>", { headers: html });
        if (pathname === "/scenario.js") {
          return new Response(Bun.file(new URL("scenario.js", import.meta.url)));
        }
        return new Response(Bun.file(join(root, normalize(pathname))));
      },
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

const html = { "content-type": "text/html" };

/** Runs the scenario in a page of the site; returns its report. */
export function runScenarioInBrowser(
  site: PackageSite,
  baseUrl: string,
  apiKey: string,
): Promise<unknown> {
  return runInBrowser(
    site,
    `const { runScenario } = await import("/scenario.js");
     return await runScenario(client, ${JSON.stringify(baseUrl)}, ${JSON.stringify(apiKey)});`,
  );
}

/** Runs a function body in a page of the site, where `client` is the package. */
export async function runInBrowser(site: PackageSite, body: string): Promise<unknown> {
  const page = await (await browser()).newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(site.origin);
  try {
    return await page.evaluate(`(async () => {
      const client = await import("/index.js");
      ${body}
    })()`);
  } finally {
    await page.close();
  }
}
