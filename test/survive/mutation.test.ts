import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rooms } from "../../scripts/layers.ts";
import { applyPatch, type Patch, readPatches, root } from "../../survive/mutation/patches.ts";

const patches = readPatches();

test("every mistake applies to the code, is small, and names the test that notices it", () => {
  expect(patches.length).toBeGreaterThanOrEqual(60);
  for (const patch of patches) {
    const { path, file } = patch;
    expect([path, isOurs(file)]).toEqual([path, true]);
    const text = readFileSync(join(root, file), "utf8");
    expect(applyPatch(patch, text)).not.toBe(text);
    expect([path, changedLines(patch) <= 5]).toEqual([path, true]);
    expect([path, existsSync(join(root, patch.test))]).toEqual([path, true]);
  }
});

/** How many lines are replaced, added or removed. */
function changedLines({ hunks }: Patch): number {
  const lines = (text: string) => text.split("\n");
  return hunks.reduce((sum, { before, after }) => {
    const removed = lines(before).filter((line) => !lines(after).includes(line)).length;
    const added = lines(after).filter((line) => !lines(before).includes(line)).length;
    return sum + Math.max(removed, added);
  }, 0);
}

test("every room with code has a mistake", () => {
  const transpiler = new Bun.Transpiler();
  /** What declares only types can have none. */
  const hasCode = (file: string) => {
    const text = readFileSync(join(root, file), "utf8");
    return transpiler.transformSync(text, file.endsWith("x") ? "tsx" : "ts").trim() !== "";
  };
  const files = [...new Bun.Glob("**/src/**/*.{ts,tsx}").scanSync({ cwd: root })].filter(isOurs);
  const mistaken = new Set(patches.map(({ file }) => roomOf(file)));
  const withCode = new Set(files.filter(hasCode).map(roomOf));
  expect(withCode.size).toBeGreaterThan(60);
  withCode.delete("src");
  expect([...withCode].filter((room) => !mistaken.has(room)).sort()).toEqual([]);
});

function isOurs(file: string): boolean {
  return /^(client\/)?src\//.test(file);
}

/** A room of a layer, or the first folder of another file. */
function roomOf(file: string): string {
  const layer = Object.keys(rooms).find((one) => file.startsWith(one));
  if (!layer) return file.split("/").slice(0, -1).slice(0, 2).join("/");
  const name = file.slice(layer.length).split("/")[0]!;
  const isListed = rooms[layer]!.some(([room]) => room === name);
  return layer + (isListed ? name : "*.ts");
}
