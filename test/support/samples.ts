// The samples of the page at /docs, taken from the page as the service sends it.
import type { Trial } from "../../src/http/docs/browser/request.ts";
import type { TestService } from "./service.ts";

/** Returns all samples of each language, in the order of the page. */
export async function readSamples(service: TestService): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const page = (await service.call("GET", "~/docs")).text;
  const pattern = /<div data-language="(\w+)">\s*<pre[^>]*><code>([^<]*)<\/code>/g;
  for (const [, language = "", code = ""] of page.matchAll(pattern)) {
    const text = code.replace(/&#(\d+);/g, (_, number) => String.fromCharCode(number));
    found[language] = [...(found[language] ?? []), text];
  }
  return found;
}

export const isFeed = (code: string) => /event-stream/.test(code);

/** A request whose values contain everything that a language could misread. */
export const hostile: Trial = {
  base: "http://127.0.0.1:1/v1",
  method: "PATCH",
  path: "/inventory/{petId}",
  fields: [
    { name: "petId", in: "path", value: "1/../2" },
    { name: "X-Change-Reason", in: "header", value: `it's "$(id)" \`id\` \${id} \\` },
  ],
  body: `{"quantity": 9223372036854775807,\n "note": "it's \`\${1}\` \\\\ \\""}`,
};
