import { expect, test } from "bun:test";

test("the npm package contains the program and nothing else", async () => {
  const child = Bun.spawn(["npm", "pack", "--dry-run", "--json"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const [packed] = Object.values(JSON.parse(await new Response(child.stdout).text())) as [
    { files: { path: string }[] },
  ];
  const paths = packed.files.map(({ path }) => path);
  const sources = [...new Bun.Glob("src/**/*").scanSync()].filter(
    (path) => !path.startsWith("src/console/"),
  );
  // What `webhooks listen` follows the feed with.
  sources.push(...new Bun.Glob("client/src/*").scanSync());
  const built = [...new Bun.Glob("dist/console/*").scanSync()];
  const others = ["CHANGELOG.md", "LICENSE", "README.md", "bin/petstore", "package.json"];
  const documents = ["openapi-3.0.json", "openapi-admin.json", "openapi.json"];
  expect(paths.sort()).toEqual([...others, ...documents, ...sources, ...built].sort());
});
