import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Workspace } from "./process.ts";

/** Unpacks the code of a release into a workspace. Returns the command that runs it. */
export function unpackRelease(release: string, place: Workspace): readonly string[] {
  const fixture = resolve(import.meta.dir, `../fixtures/releases/petstore-${release}.json.zst`);
  const text = Buffer.from(Bun.zstdDecompressSync(readFileSync(fixture))).toString();
  for (const [name, content] of Object.entries<string>(JSON.parse(text))) {
    const path = place.path(`petstore-${release}/${name}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  return [process.execPath, place.path(`petstore-${release}/src/main.js`)];
}
