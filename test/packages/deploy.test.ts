import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import manifest from "../../package.json";
import { commands } from "../../src/cli/commands.ts";
import { readConfig } from "../../src/config.ts";
import { settings } from "../../src/settings.ts";

const read = (path: string) => readFileSync(path, "utf8");
const files = [...new Bun.Glob("deploy/**/*").scanSync()].sort();
const flags = Object.values(settings).map(({ flag }) => flag as string);
const variables = Object.values(settings).map(({ variable }) => variable as string);

/** Runs a program if this machine has it. Returns undefined if not. */
async function runIfPresent(
  ...command: string[]
): Promise<{ code: number; text: string } | undefined> {
  if (Bun.which(command[0]!) === null) return undefined;
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, text: out + err };
}

test("deploy/ uses only variables that the service reads", () => {
  const used = files.flatMap((file) =>
    [...read(file).matchAll(/\b(PETSTORE_[A-Z_]+|DATABASE_URL|HOST|PORT)(?==|:\s|$)/gm)].map(
      ([, name]) => name!,
    ),
  );
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !variables.includes(name))).toEqual([]);
});

test("the settings file for systemd has only known settings with valid values", () => {
  const file = Bun.TOML.parse(read("deploy/systemd/petstore.toml")) as Record<string, unknown>;
  expect(Object.keys(file).filter((name) => !flags.includes(name))).toEqual([]);
  const texts = Object.entries(file).map(([name, value]) => [name, String(value)]);
  expect(readConfig(Object.fromEntries(texts), {}).backupEveryMs).toBe(3_600_000);
});

test("under systemd, backups are in another folder than the store, and the unit may write there", () => {
  const file = Bun.TOML.parse(read("deploy/systemd/petstore.toml")) as Record<string, string>;
  const folder = file["backup-folder"]!;
  const store = dirname(file.database!.replace("sqlite:", ""));
  expect(folder).not.toStartWith(store);
  expect(read("deploy/systemd/petstore.service")).toContain(`\nReadWritePaths=${folder}\n`);
  expect(read("docs/installing.md")).toContain(
    `install -d -m 700 -o petstore -g petstore ${folder}\n`,
  );
});

test("every command that deploy/ runs exists", () => {
  const names = commands.map(({ name }) => name);
  const run = files.flatMap((file) =>
    [...read(file).matchAll(/(?<!namespace )\bpetstore ((?:keys |pets )?[a-z]+)(?= --|$|")/gm)].map(
      ([, name]) => name!,
    ),
  );
  expect(run).toContain("serve");
  expect(run.filter((name) => !names.includes(name))).toEqual([]);
});

describe("the container image", () => {
  const text = read("deploy/docker/Dockerfile");
  const instructions = text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line));
  const last = (name: string) => instructions.findLast((line) => line.startsWith(name)) ?? "";

  test("runs as an ordinary user and checks its own health", () => {
    expect(last("USER")).toBe("USER 10001:10001");
    expect(last("HEALTHCHECK")).toContain('CMD ["petstore", "health"]');
    expect(last("ENTRYPOINT")).toBe('ENTRYPOINT ["petstore"]');
    expect(last("CMD")).toBe('CMD ["serve"]');
  });

  test("copies only what the build needs, and .dockerignore lets that through", () => {
    const copied = instructions
      .filter((line) => line.startsWith("COPY") && !line.includes("--from"))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    expect(copied.sort()).toEqual(allowed.sort());
  });
});

interface Container {
  readonly image?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

test("the compose file gives the service a read-only file system and no capabilities", () => {
  const { services } = Bun.YAML.parse(read("deploy/docker/compose.yaml")) as {
    services: Record<string, Container>;
  };
  expect(Object.keys(services)).toEqual(["database", "petstore"]);
  expect(services.petstore).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
  expect(services.database!.image).toMatch(/^postgres:\d+$/);
});

const manifests = files
  .filter((file) => file.startsWith("deploy/kubernetes/"))
  // biome-ignore lint/suspicious/noExplicitAny: the tree of a manifest
  .map((file) => Bun.YAML.parse(read(file)) as any);

describe("the Kubernetes manifests", () => {
  const find = (kind: string) => manifests.find((one) => one.kind === kind);
  const { template, selector } = find("Deployment").spec;
  const [container] = template.spec.containers;

  test("probe the paths that the service has, and leave it time to stop", () => {
    expect(container.livenessProbe.httpGet.path).toBe("/healthz");
    expect(container.readinessProbe.httpGet.path).toBe("/readyz");
    expect(container.startupProbe.httpGet.path).toBe("/readyz");
    const { value } = container.env.find(
      (one: { name: string }) => one.name === "PETSTORE_DRAIN_SECONDS",
    );
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(value) + 14);
  });

  test("run without privileges on a read-only file system", () => {
    expect(template.spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("leave room for the file of an import, and more", () => {
    const { emptyDir } = template.spec.volumes.find((one: { name: string }) => one.name === "tmp");
    const { importBytesMax } = readConfig({}, {});
    expect(Number.parseInt(emptyDir.sizeLimit, 10) * 2 ** 20).toBeGreaterThan(importBytesMax);
  });

  test("select the same pods in the deployment, service, budget and network policy", () => {
    const labels = selector.matchLabels;
    expect(template.metadata.labels).toMatchObject(labels);
    expect(find("Service").spec.selector).toEqual(labels);
    expect(find("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    expect(find("PodDisruptionBudget").spec.minAvailable).toBe(1);
    expect(find("NetworkPolicy").spec.podSelector.matchLabels).toEqual(labels);
  });

  test("name this version, list every file, and are accepted by kubectl where it is present", async () => {
    const { resources, images } = find("Kustomization");
    const others = files.filter((file) => /kubernetes\/(?!kustomization)/.test(file));
    expect(resources.map((name: string) => `deploy/kubernetes/${name}`).sort()).toEqual(others);
    expect(images).toEqual([{ name: "petstore", newTag: manifest.version }]);
    const built = await runIfPresent("kubectl", "kustomize", "deploy/kubernetes");
    expect(built?.text ?? manifest.version).toContain(manifest.version);
  });
});

test("the systemd unit is hardened, and systemd accepts it where it is present", async () => {
  const unit = read("deploy/systemd/petstore.service");
  for (const line of [
    "User=petstore",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "UMask=0077",
  ]) {
    expect(unit).toContain(`\n${line}\n`);
  }
  const folder = mkdtempSync(join(tmpdir(), "petstore-unit-"));
  try {
    // The unit names a program that this machine need not have.
    const path = join(folder, "petstore.service");
    writeFileSync(path, unit.replaceAll("/usr/local/bin/petstore", "/bin/true"));
    const verified = await runIfPresent("systemd-analyze", "verify", path);
    expect(verified ?? { code: 0, text: "" }).toEqual({ code: 0, text: "" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
