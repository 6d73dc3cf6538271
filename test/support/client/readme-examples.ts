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

/**
 * Runs examples in a project that has the client installed, each with a key of its own. Returns the output
 * of each. The modules run one after another in one process. The CommonJS ones need one each, because their
 * end cannot be awaited.
 */
export async function runReadmeExamples(
  project: string,
  examples: readonly ReadmeExample[],
  baseUrl: string,
  createKey: () => Promise<string>,
): Promise<Map<string, string>> {
  const outputs = new Map<string, string>();
  let driver = "";
  const runModules = async () => {
    await Bun.write(join(project, "examples.ts"), driver);
    const printed = await run([process.execPath, "examples.ts"], project);
    for (const [, title = "", output = ""] of printed.matchAll(/^# (.+)\n((?:[^#].*\n)*)/gm)) {
      outputs.set(title, output);
    }
    driver = "";
  };
  for (const { title, extension, code } of examples) {
    const file = `${title.toLowerCase().replace(/\W+/g, "-")}.${extension}`;
    const apiKey = await createKey();
    const program = code
      .replace("http://127.0.0.1:8080/v1", baseUrl)
      .replace("YOUR_API_KEY", apiKey);
    await Bun.write(join(project, file), program);
    await Bun.write(join(project, "petstore.key"), `${apiKey}\n`);
    if (extension === "ts") {
      driver += `console.log("# ${title}");\nawait import("./${file}");\n`;
      continue;
    }
    await runModules();
    outputs.set(title, await run([process.execPath, file], project));
  }
  await runModules();
  return outputs;
}
