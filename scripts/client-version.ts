/**
 * Gives the client the version of the service, so that equal versions fit each other. With --check it
 * writes nothing and fails if a version differs.
 */

import { version } from "../package.json";

const line = `"version": "${version}"`;

for (const [path, withVersion] of Object.entries({
  "client/package.json": (text: string) => text.replace(/"version": "[^"]*"/, line),
  "client/src/version.ts": () =>
    `/** The version of this package and of the service that it fits. */\nexport const version = "${version}";\n`,
})) {
  const file = Bun.file(new URL(`../${path}`, import.meta.url).pathname);
  const text = await file.text();
  const fresh = withVersion(text);
  if (!process.argv.includes("--check")) await Bun.write(file, fresh);
  else if (text !== fresh) {
    console.error(`${path} does not have the version of package.json; run npm run generate`);
    process.exitCode = 1;
  }
}
