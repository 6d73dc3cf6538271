import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { openWorkspace, type Served, type Workspace } from "../support/process.ts";
import { type CallOptions, call } from "../support/service.ts";
import { until } from "../support/until.ts";

/** Long enough that the process which imports them is found while it does. */
const rowsCount = 150_000;
const file = `petId,name,quantity\n${Array.from({ length: rowsCount }, (_, at) => `${at + 1},Pet ${at},${at}\n`).join("")}`;

let workspace: Workspace;
let service: Served;
let key: string;
let reader: string;
beforeAll(async () => {
  workspace = openWorkspace();
  const created = ["keys", "create", "--operator", "--name", "Ada"];
  await workspace.runHere(["pets", "import", "-"], { stdin: '{"petId":1,"name":"Rex"}' });
  ({ key } = await workspace.json<{ key: string }>(...created));
  const till = ["keys", "create", "--plan", "business", "--name", "Till"];
  ({ key: reader } = await workspace.json<{ key: string }>(...till));
  service = await workspace.serve();
});
afterAll(() => workspace.leave());

const send = (query = "", options: CallOptions = {}) =>
  call(service.baseUrl, "POST", `~/admin/pets/import?format=csv${query}`, {
    key,
    body: file,
    ...options,
  });

/** The processes that a process has started. */
function childrenOf(pid: number): number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((id) => {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid;
    } catch {
      return false;
    }
  });
}

async function findChild(): Promise<number> {
  await until(() => childrenOf(service.pid).length > 0, 10_000, "the process");
  return childrenOf(service.pid)[0]!;
}

const isAlive = (pid: number) => readdirSync("/proc").includes(`${pid}`);
const stageFiles = () =>
  readdirSync(workspace.path("data")).filter((name) => name.includes("-import-"));
const ledger = async () => (await workspace.json<{ entries: number }>("verify")).entries;

test("a process that is killed imports nothing, and the service continues", async () => {
  for (const query of ["&dryRun=true", ""]) {
    const answer = send(query);
    const child = await findChild();
    await until(() => query !== "" || stageFiles().length === 1, 10_000, "the staged rows");
    process.kill(child, "SIGKILL");
    const { status, text } = await answer;
    expect([status, text]).toEqual([503, expect.stringContaining("The import failed: ")]);
    expect(stageFiles()).toEqual([]);
  }
  expect(await ledger()).toBe(1);
});

test("a client that leaves ends the process, which imports nothing", async () => {
  const leaving = new AbortController();
  const url = new URL("/admin/pets/import?format=csv", service.baseUrl);
  const headers = { Authorization: `Bearer ${key}` };
  const answer = fetch(url, { method: "POST", body: file, headers, signal: leaving.signal });
  answer.catch(() => {});
  const child = await findChild();
  await until(() => stageFiles().length === 1, 10_000, "the staged rows");
  leaving.abort();
  await until(() => !isAlive(child) && stageFiles().length === 0, 10_000, "the end");
  expect(await ledger()).toBe(1);
});

test("a service that is killed leaves no process, and the next start no file", async () => {
  const answer = send().catch(() => {});
  const child = await findChild();
  await until(() => stageFiles().length === 1, 10_000, "the staged rows");
  service.kill("SIGKILL");
  await service.exited;
  await answer;
  await until(() => !isAlive(child), 10_000, "the end of the process");
  writeFileSync(workspace.path("data/production.db-import-left"), "not finished");
  service = await workspace.serve();
  expect(stageFiles()).toEqual([]);
  expect(await ledger()).toBe(1);
});

test("an import shows at once, and its file is removed", async () => {
  const imported = await send();
  expect(imported.json).toMatchObject({ created: rowsCount - 1, changed: 1 });
  const entry = await call(service.baseUrl, "GET", `/inventory/${rowsCount}`, { key: reader });
  expect(entry.json).toMatchObject({ petId: rowsCount, quantity: rowsCount - 1 });
  const list = await call(service.baseUrl, "GET", "/inventory", { key: reader });
  expect(list.json).toHaveLength(rowsCount);
  expect(stageFiles()).toEqual([]);
  expect(await ledger()).toBe(rowsCount);
});

test("`work` is no command", async () => {
  const ran = await workspace.run(["work"]);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining("unknown command 'work'") });
});
