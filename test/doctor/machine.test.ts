import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setSystemTime, test } from "bun:test";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import type { Socket } from "bun";
import { checkSpace } from "../../src/cli/doctor/files.ts";
import type { Bounds } from "../../src/cli/doctor/finding.ts";
import { endingMs } from "../../src/domain/operations/attention.ts";
import { complaints, examineStore, makeHealthy, patientBounds } from "../support/doctor.ts";
import { openWorkspace } from "../support/process.ts";
import { testFile } from "../support/tls.ts";

const place = openWorkspace();
afterAll(() => place.leave());
let storesMade = 0;

/** A healthy store in a folder of its own. */
async function freshStore(): Promise<{ path: string; folder: string }> {
  const folder = place.path(`store-${++storesMade}`);
  const path = `${folder}/shop.db`;
  await makeHealthy(`sqlite:${path}`);
  return { path, folder };
}

async function examineFile(path: string, flags = {}, bounds: Partial<Bounds> = {}) {
  const findings = complaints(await examineStore(`sqlite:${path}`, flags, bounds));
  return findings.map(({ name, result, found, advice }) => ({
    what: `${result} ${name}: ${found}`,
    advice,
  }));
}

describe("the files of a store", () => {
  test("a healthy store is ok in every check, also through a link, and nothing is left", async () => {
    const { path, folder } = await freshStore();
    const before = readdirSync(folder);
    expect(await examineFile(path)).toEqual([]);
    symlinkSync(path, place.path("link.db"));
    expect(await examineFile(place.path("link.db"))).toEqual([]);
    expect(readdirSync(folder)).toEqual(before);
  });

  test("that others can read, replace or own are a warning", async () => {
    const { path, folder } = await freshStore();
    chmodSync(path, 0o644);
    const [readable] = await examineFile(path);
    expect(readable).toMatchObject({
      what: `warning permissions: other users can read or write ${path}`,
      advice: expect.stringContaining(`chmod 600 ${path}`),
    });
    chmodSync(path, 0o600);
    chmodSync(folder, 0o777);
    const [replaceable] = await examineFile(path);
    expect(replaceable).toMatchObject({
      what: `warning permissions: other users can replace files in ${folder}`,
      advice: expect.stringContaining(`chmod 700 ${folder}`),
    });
    chmodSync(folder, 0o700);
    // Only root can give a file away.
    if (process.getuid?.() !== 0) return;
    chownSync(path, 65_534, 65_534);
    const [owned] = await examineFile(path);
    expect(owned!.what).toContain(`${path} belongs to user 65534, and this command runs as user 0`);
  });

  test("with a second name are a problem", async () => {
    const { path } = await freshStore();
    linkSync(path, place.path("second.db"));
    const [finding] = await examineFile(path);
    expect(finding!.what).toBe(`problem file names: ${path} has 2 names (hard links)`);
    expect(finding!.advice).toContain("copy the file");
  });

  test("on a full or slow disk are named", async () => {
    const { path, folder } = await freshStore();
    const [full] = await examineFile(path, {}, { diskBytesMin: 2 ** 60 });
    expect(full!.what).toMatch(/^problem disk space: .* free in .*, the store has /);
    expect(full!.advice).toContain("a full disk stops all updates");
    const [inodes] = await examineFile(path, {}, { inodesMin: 2 ** 60 });
    expect(inodes!.what).toMatch(/^problem disk space: \d+ inodes free/);
    const [slow] = await examineFile(path, {}, { flushMsMax: 0 });
    expect(slow!.what).toMatch(/^warning flush time: a flush takes [\d.]+ ms/);
    expect(checkSpace(folder, 2 ** 60, patientBounds)).toMatchObject({
      result: "warning",
      advice: expect.stringContaining("needs a copy of the store"),
    });
  });
});

describe("a store that cannot be used is a problem", () => {
  test("one that does not exist, and nothing is created", async () => {
    const path = place.path("nowhere/shop.db");
    const [finding] = await examineFile(path);
    expect(finding!.what).toBe(`problem store: there is no store at ${path}; check --database`);
    expect(finding!.advice).toContain("relative path");
    expect(existsSync(place.path("nowhere"))).toBe(false);
  });

  test("one that is damaged, is no database, or belongs to another program", async () => {
    const { path } = await freshStore();
    const half = place.path("half.db");
    const bytes = await Bun.file(path).bytes();
    writeFileSync(half, bytes.fill(7, 100, 8_192), { mode: 0o600 });
    writeFileSync(place.path("text.db"), "hello\n".repeat(1_000), { mode: 0o600 });
    new Database(place.path("songs.db"), { create: true }).run("CREATE TABLE songs (title TEXT)");
    for (const [name, found] of [
      ["half.db", "damaged"],
      ["text.db", "not a petstore database"],
      ["songs.db", "not a petstore database"],
    ] as const) {
      const findings = await examineFile(place.path(name));
      expect(findings.map(({ what }) => what)).toContainEqual(
        expect.stringMatching(new RegExp(`^problem \\w+: .*${found}`)),
      );
    }
  });

  test("one whose write lock another process holds", async () => {
    const { path } = await freshStore();
    using holder = new Database(path);
    holder.run("BEGIN IMMEDIATE");
    const [finding] = await examineFile(path);
    expect(finding!.what).toStartWith("problem writable: The store is busy.");
    expect(finding!.advice).toContain("wait for the import");
  });
});

describe("the machine", () => {
  test("a port that another program uses is a problem", async () => {
    const { path } = await freshStore();
    const greet = { open: (socket: Socket) => void socket.end("220 mail\r\n"), data() {} };
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: greet });
    const port = String(other.port);
    const findings = await examineFile(path, { port, "metrics-port": port, host: "127.0.0.2" });
    expect(findings).toEqual([
      {
        what: `problem metrics port: another program uses 127.0.0.1:${port}`,
        advice: "Stop that program, or set another --metrics-port.",
      },
    ]);
    other.stop(true);
    const [foreign] = await examineFile(path, { host: "192.0.2.1", port });
    expect(foreign!.what).toMatch(/^problem port: cannot listen on 192\.0\.2\.1/);
  });

  test("certificates that end, have ended, or do not fit their key are named", async () => {
    const { path } = await freshStore();
    for (const name of ["server.pem", "expired.pem", "server-key.pem"]) {
      writeFileSync(place.path(name), testFile(name), { mode: 0o600 });
    }
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(place.path("other-key.pem"), pem, { mode: 0o600 });
    const check = async (cert: string, key: string) => {
      const flags = { "tls-cert": place.path(cert), "tls-key": place.path(key) };
      const found = (await examineFile(path, flags)).map(({ what }) => what);
      return found.filter((what) => what.includes(" certificate: "));
    };
    const { validTo } = new X509Certificate(readFileSync(place.path("server.pem")));
    const endsSoonAt = Date.parse(validTo) - endingMs;
    setSystemTime(endsSoonAt - 1);
    expect(await check("server.pem", "server-key.pem")).toEqual([]);
    setSystemTime(endsSoonAt);
    expect(await check("server.pem", "server-key.pem")).toEqual([
      expect.stringMatching(/^warning certificate: The TLS certificate expires at \d{4}-/),
    ]);
    setSystemTime();
    expect(await check("expired.pem", "server-key.pem")).toEqual([
      expect.stringMatching(/^problem certificate: The TLS certificate expired at \d{4}-/),
    ]);
    expect(await check("server.pem", "other-key.pem")).toEqual([
      expect.stringMatching(/^problem certificate: the TLS key .* does not belong to the cert/),
    ]);
    chmodSync(place.path("server-key.pem"), 0o640);
    expect(await check("server.pem", "server-key.pem")).toEqual([
      expect.stringMatching(/^warning certificate: other users can read the private key/),
    ]);
    expect(await check("none.pem", "server-key.pem")).toEqual([
      expect.stringMatching(/^problem certificate: .*none\.pem/),
    ]);
  });

  test("a continuous copy that is not current, or cannot be checked in time, is a problem", async () => {
    const { path } = await freshStore();
    const find = async (flags: Record<string, string>, bounds: Partial<Bounds> = {}) => {
      const findings = await examineStore(`sqlite:${path}`, flags, bounds);
      return findings.find(({ name }) => name === "replica");
    };
    expect(await find({})).toMatchObject({ result: "ok", found: "--replica-check is not set" });
    expect(await find({ "replica-check": "true" })).toMatchObject({ result: "ok" });
    expect(await find({ "replica-check": "exit 4" })).toMatchObject({
      result: "problem",
      found: "the command ended with exit code 4",
      advice: expect.stringContaining("docs/litestream.md"),
    });
    expect(await find({ "replica-check": "sleep 1000" }, { replicaMs: 50 })).toMatchObject({
      result: "problem",
      found: "the check took too long",
    });
  });

  test("too few descriptors and an open backup folder are a warning", async () => {
    const { path, folder } = await freshStore();
    const [few] = await examineFile(path, {}, { descriptorsBesideStreams: 2 ** 40 });
    expect(few!.what).toMatch(/^warning descriptors: .* can open \w+ files and connections$/);
    expect(few!.advice).toContain("LimitNOFILE");
    mkdirSync(`${folder}/backups`);
    chmodSync(`${folder}/backups`, 0o755);
    const [open] = await examineFile(path, { "backup-folder": `${folder}/backups` });
    expect(open!.what).toBe(`warning backup folder: other users can open ${folder}/backups`);
    // A folder that does not exist yet is made by the first backup.
    const flags = { "backup-folder": `${folder}/later/backups`, "backup-every": "1h" };
    expect(await examineFile(path, flags)).toEqual([]);
    expect(existsSync(`${folder}/later`)).toBe(false);
  });
});

describe("petstore doctor", () => {
  test("prints every check with advice in 100 columns, and exits with code 1 if there is a problem", async () => {
    const { path } = await freshStore();
    chmodSync(path, 0o644);
    const args = ["doctor", "--database", `sqlite:${path}`, "--port", "0"];
    const found = await place.runHere(args);
    expect(found).toMatchObject({ code: 0, err: "" });
    expect(found.out).toMatch(
      /^ok +configuration +\d+ settings are valid, 2 are not the default\n/,
    );
    expect(found.out).toMatch(/\nwarning +permissions +other users can read/);
    expect(found.out).toMatch(/\n0 problems, \d+ warnings?\.\n$/);
    expect(found.out.split("\n").filter((line) => line.length > 100)).toEqual([]);
    const wrong = await place.runHere([...args, "--env", "staging", "--json"]);
    expect(wrong.code).toBe(1);
    const { ok, problems, checks } = JSON.parse(wrong.out);
    expect({ ok, problems }).toEqual({ ok: false, problems: 1 });
    expect(checks).toContainEqual(
      expect.objectContaining({ name: "environment", result: "problem" }),
    );
  });

  test("names every setting that is not valid, and checks nothing else", async () => {
    const findings = await examineFile("x.db", { port: "x", "drain-seconds": "y" });
    expect(findings.map(({ what }) => what)).toEqual([
      "problem configuration: --port must be a port from 0 to 65535, not 'x'",
      "problem configuration: --drain-seconds must be from 0 to 3600 seconds, not 'y'",
    ]);
  });
});
