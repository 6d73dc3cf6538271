import { join } from "node:path";
import { run } from "./package.ts";

const readmePath = new URL("../../../client/README.md", import.meta.url);

export interface ReadmeExample {
  /** The heading above the code block. */
  readonly title: string;
  /** A block marked `js` is CommonJS. */
  readonly extension: "ts" | "cjs";
  readonly code: string;
}

/** Reads the code blocks in the README of the client. Each heading has at most one. */
export async function readReadmeExamples(): Promise<ReadmeExample[]> {
  const text = await Bun.file(readmePath).text();
  const blocks = /^##+ (.+)$(?:(?!^#)[\s\S])*?^```(ts|js)\n([\s\S]*?)^```$/gm;
  const examples = [...text.matchAll(blocks)].map(
    ([, title = "", language, code = ""]): ReadmeExample => ({
      title,
      extension: language === "ts" ? "ts" : "cjs",
      code,
    }),
  );
  const count = text.match(/^```(ts|js)$/gm)?.length ?? 0;
  if (examples.length !== count) throw new Error("a heading of the README has two code blocks");
  return examples;
}

/** Runs one example in a project that has the client installed; returns its output. */
export async function runReadmeExample(
  project: string,
  example: ReadmeExample,
  baseUrl: string,
  apiKey: string,
): Promise<string> {
  const file = `${example.title.toLowerCase().replace(/\W+/g, "-")}.${example.extension}`;
  const code = example.code
    .replace("http://127.0.0.1:8080/v1", baseUrl)
    .replace("YOUR_API_KEY", apiKey);
  await Bun.write(join(project, file), code);
  await Bun.write(join(project, "petstore.key"), `${apiKey}\n`);
  return run([process.execPath, file], project);
}
