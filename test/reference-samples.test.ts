import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sampleFor } from "../src/http/docs/browser/samples.ts";
import { hostile, isFeed, readSamples } from "./support/samples.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** The samples of the page at /docs, taken from the page as the service sends it. */

let service: TestService;
let key: string;
let folder: string;
/** All samples of a language, in the order of the page. */
let samples: Record<string, string[]>;

beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n, quantity: 30 }, { petId: 8n, quantity: 1 });
  folder = mkdtempSync(join(tmpdir(), "petstore-samples-"));
  samples = await readSamples(service);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const pages = (language: string) => samples[language]!.filter((code) => !isFeed(code));
const feed = (language: string) => samples[language]!.filter(isFeed);

/** Runs a program with the key in the environment, and returns what it printed. */
async function run(command: string[]): Promise<string> {
  const env = { ...process.env, API_KEY: key };
  const child = Bun.spawn(command, { env, stdout: "pipe", stderr: "pipe", cwd: folder });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return (await child.exited) === 0 ? out : out + err;
}

/** Runs several samples as one module, each in a block of its own. */
async function runModule(name: string, codes: readonly string[]): Promise<string> {
  await Bun.write(join(folder, name), codes.map((code) => `{\n${code}\n}`).join("\n"));
  return run([process.execPath, name]);
}

test("every operation has a sample in every language", () => {
  const counts = Object.values(samples).map((codes) => codes.length);
  expect(Object.keys(samples)).toEqual(["curl", "javascript", "python"]);
  expect(new Set(counts).size).toBe(1);
  for (const language of Object.keys(samples)) expect(feed(language)).toHaveLength(1);
});

test("the curl commands work when they are pasted", async () => {
  const output = await run([
    "sh",
    "-c",
    pages("curl").join("\n").replaceAll("curl -i", "curl -s -i"),
  ]);
  const statuses = [...output.matchAll(/HTTP\/1\.1 [^\r]*/g)].map(([line]) => line);
  expect(statuses).toEqual(pages("curl").map(() => "HTTP/1.1 200 OK"));
  const follow = feed("curl")[0]!.replace("curl -N", "curl -s -N --max-time 1");
  expect(await run(["sh", "-c", follow])).toContain("event: heartbeat");
});

test("the JavaScript works when it is pasted", async () => {
  const output = await runModule("samples.mjs", pages("javascript"));
  expect(output.match(/^200 /gm)).toHaveLength(pages("javascript").length);
  const follow = feed("javascript")[0]!.replace("console.log(text);", "$&\n  process.exit();");
  expect(await runModule("feed.mjs", [follow])).toContain("event: heartbeat");
});

test("the shell reads the values of a form as they are", async () => {
  const command = sampleFor("curl", hostile, "");
  const printed = await run(["sh", "-c", command.replace("curl", "printf '[%s]\\n'")]);
  const reason = hostile.fields[1]!.value;
  expect(printed).toContain(`[X-Change-Reason: ${reason}]\n`);
  expect(printed).toContain(`[${hostile.body}]\n`);
  expect(printed).toContain("[http://127.0.0.1:1/v1/inventory/1%2F..%2F2]\n");
});

test("JavaScript reads the values of a form as they are", async () => {
  const code = sampleFor("javascript", hostile, "");
  const fetched =
    "const fetch = async (...all) => (console.log(JSON.stringify(all)), new Response());";
  const printed = await runModule("hostile.mjs", [`${fetched}\n${code}`]);
  const [url, { body, headers }] = JSON.parse(printed.split("\n")[0]!);
  expect(url).toBe("http://127.0.0.1:1/v1/inventory/1%2F..%2F2");
  expect(body).toBe(hostile.body);
  expect(headers["X-Change-Reason"]).toBe(hostile.fields[1]!.value);
  expect(headers.Authorization).toBe(`Bearer ${key}`);
});
