import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { commands } from "../src/cli/commands.ts";
import { commandHelp } from "../src/cli/help.ts";
import { type Limits, plans } from "../src/domain/limits/plans.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** A plan that is added, renamed or has new limits must be changed in every list of plans. */

const names = Object.keys(plans);
const entries: readonly [string, Limits | null][] = Object.entries(plans);

/** The cells of each plan's row: its name and its limits. */
const rows = entries.map(([plan, limits]) => [
  plan[0]!.toUpperCase() + plan.slice(1),
  limits ? limits.perMinute.toLocaleString("en") : "agreed per key",
  limits ? limits.perDay.toLocaleString("en") : "agreed per key",
]);

/** The rows of the Markdown table of plans in a text. */
function tableIn(text: string): string[][] {
  const [, body = ""] = /\| Plan \|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)/.exec(text) ?? [];
  return body
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(2, -2).split(" | "));
}

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("every plan, and no other, is listed with its limits in", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  test("the README", () => {
    expect(tableIn(read("README.md"))).toEqual(rows);
  });

  for (const file of ["openapi.json", "openapi-3.0.json"]) {
    test(`${file}, as committed and as served`, async () => {
      const served = (await service.call("GET", `~/${file}`)).text;
      for (const text of [read(file), served]) {
        expect(tableIn(JSON.parse(text).info.description)).toEqual(rows);
      }
    });
  }

  test("the page at /docs", async () => {
    const page = (await service.call("GET", "~/docs")).text;
    const [, body = ""] = /<th scope="col">Plan<.*?<tbody>(.*?)<\/tbody>/s.exec(page) ?? [];
    const shown = body
      .split("</tr>")
      .slice(0, -1)
      .map((row) => [...row.matchAll(/<td>(.*?)<\/td>/g)].map(([, cell]) => cell));
    expect<unknown>(shown).toEqual(rows);
  });
});

describe("every plan, and no other, is named in", () => {
  test("petstore help keys create", () => {
    const create = commands.find(({ name }) => name === "keys create")!;
    expect(commandHelp(create)).toContain(` --plan ${names.join("|")} `);
  });

  test("the commands in docs/keys.md", () => {
    const lines = read("docs/keys.md").matchAll(/^petstore keys create .*--plan (\S+)/gm);
    expect([...lines].flatMap(([, plan]) => plan!.split("|"))).toEqual(names);
  });

  test("the glossary in ARCHITECTURE.md", () => {
    const [, listed] = /^\| plan, limits \| ([^;]+);/m.exec(read("ARCHITECTURE.md"))!;
    expect(listed).toBe(rows.map(([name]) => name).join(", "));
  });
});
