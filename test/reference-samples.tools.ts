import { afterAll, beforeAll, expect, test } from "bun:test";
import { sampleFor } from "../src/http/docs/browser/samples.ts";
import { hostile, isFeed, readSamples } from "./support/samples.ts";
import { startTestService, type TestService } from "./support/service.ts";

// Runs the Python samples of the page at /docs: `npm run test:packages`. It needs Python 3, which npm does
// not install.

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n, quantity: 30 }, { petId: 8n, quantity: 1 });
});
afterAll(() => service.stop());

async function runPython(code: string): Promise<string> {
  const child = Bun.spawn(["python3", "-c", code], {
    env: { ...process.env, API_KEY: key },
    stdout: "pipe",
  });
  const output = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return output;
}

test("the Python works when it is pasted", async () => {
  const { python = [] } = await readSamples(service);
  const pages = python.filter((code) => !isFeed(code));
  const output = await runPython(pages.join("\n"));
  expect(output.match(/^200 /gm)).toHaveLength(pages.length);
  const follow = python
    .find(isFeed)!
    .replace("    for line in response:", "$&\n        import sys");
  const ending = '\n        if line.startswith(b"event: heartbeat"): sys.exit()';
  expect(await runPython(follow + ending)).toContain("event: heartbeat");
});

test("Python reads the values of a form as they are", async () => {
  // Prints what would be sent, and ends.
  const print = `import json, sys, urllib.request
def urlopen(request):
    print(json.dumps([request.full_url, request.data.decode(), request.headers]))
    sys.exit()
urllib.request.urlopen = urlopen
`;
  const printed = await runPython(print + sampleFor("python", hostile, ""));
  const [url, body, headers] = JSON.parse(printed);
  expect(url).toBe("http://127.0.0.1:1/v1/inventory/1%2F..%2F2");
  expect(body).toBe(hostile.body);
  expect(headers["X-change-reason"]).toBe(hostile.fields[1]!.value);
  expect(headers.Authorization).toBe(`Bearer ${key}`);
});
