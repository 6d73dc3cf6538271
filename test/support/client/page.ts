import { join, normalize } from "node:path";
import { browser } from "../browser.ts";
import type { Project } from "./package.ts";

/** An origin that serves the installed package to a page; the service must allow that origin. */
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
        if (pathname === "/journey.js") {
          return new Response(Bun.file(new URL("journey.js", import.meta.url)));
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

/** Runs the journey inside a page of that site; gives its report. */
export function journeyInBrowser(
  site: PackageSite,
  baseUrl: string,
  apiKey: string,
): Promise<unknown> {
  return runInBrowser(
    site,
    `const { journey } = await import("/journey.js");
     return await journey(client, ${JSON.stringify(baseUrl)}, ${JSON.stringify(apiKey)});`,
  );
}

/** Runs the body of a function inside a page of that site; `client` is the package. */
export async function runInBrowser(site: PackageSite, body: string): Promise<unknown> {
  const page = await (await browser()).newPage();
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
