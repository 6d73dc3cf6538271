import { join } from "node:path";

const readmePath = new URL("../../../client/README.md", import.meta.url);

export interface Recipe {
  readonly title: string;
  /** A block marked `js` is CommonJS. */
  readonly extension: "ts" | "cjs";
  readonly code: string;
}

/** The recipes of the client's README: each block of code with the heading above it. */
export async function readRecipes(): Promise<Recipe[]> {
  const text = await Bun.file(readmePath).text();
  return [...text.matchAll(/^##+ (.+)$(?:(?!^#)[\s\S])*?^```(ts|js)\n([\s\S]*?)^```$/gm)].map(
    ([, title = "", language, code = ""]) => ({
      title,
      extension: language === "ts" ? "ts" : "cjs",
      code,
    }),
  );
}

/** Runs one recipe as a program of its own, in a project that has the client installed. */
export async function runRecipe(
  project: string,
  recipe: Recipe,
  baseUrl: string,
  apiKey: string,
): Promise<string> {
  const file = join(
    project,
    `${recipe.title.toLowerCase().replace(/\W+/g, "-")}.${recipe.extension}`,
  );
  const code = recipe.code
    .replace("http://127.0.0.1:8080/v1", baseUrl)
    .replace("YOUR_API_KEY", apiKey);
  await Bun.write(file, code);
  await Bun.write(join(project, "petstore.key"), `${apiKey}\n`);
  const child = Bun.spawn([process.execPath, file], {
    cwd: project,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${recipe.title} failed: ${errors}`);
  return output;
}
