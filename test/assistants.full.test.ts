import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, earlier, revisions } from "./support/assistants.ts";
import { createTestClock } from "./support/clock.ts";
import { program } from "./support/program.ts";
import { startTestService } from "./support/service.ts";
import { until } from "./support/until.ts";

test("two instances share a session", async () => {
  await using stack = new AsyncDisposableStack();
  const clock = createTestClock(Date.now());
  const first = await startTestService("postgres", { mcp: "on" }, {}, { program, clock });
  stack.defer(first.stop);
  const flags = { mcp: "on", database: first.databaseUrl };
  const second = await startTestService("postgres", flags, {}, { program, clock });
  stack.defer(second.stop);
  await first.addPets({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 10 });
  const { text } = await first.issueKey();
  const [here, there] = [
    await connect(first, text, revisions[0]),
    await connect(second, text, revisions[1]),
  ];
  const change = (petId: number) => ({ reason: "sale", changes: [{ petId, delta: -1 }] });
  const { session } = (await here.use("change_stock", change(1))).json;
  expect((await there.use("change_stock", { ...change(2), session })).json.session).toBe(session);
  expect((await there.use("undo_session", { session })).json).toMatchObject({ undone: 2 });
  expect((await here.use("compare_stock", { moment: "2", to: "6" })).json.items).toEqual([]);
});

test("nothing more of an array is run for a client that has gone", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "petstore-array-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const began = join(folder, "began");
  const hanging = ["sh", "-c", `touch ${began}; exec sleep 60`];
  const ended: number[] = [];
  const observer = ({ status }: { status: number }) => void ended.push(status);
  const service = await startTestService(
    "sqlite",
    { mcp: "on" },
    {},
    { program: hanging, observer },
  );
  stack.defer(service.stop);
  const { text } = await service.issueKey();
  const hello = await service.call("POST", "~/mcp", { key: text, body: earlier("initialize") });
  const session = hello.headers.get("Mcp-Session-Id")!;
  // An undo of what is longer ago takes a process.
  await service.addPets(...Array.from({ length: 2_500 }, (_, at) => ({ petId: BigInt(at + 1) })));
  const undo = earlier("tools/call", { name: "undo_session", arguments: { session } });
  const leaving = new AbortController();
  const gone = fetch(new URL("/mcp", service.baseUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${text}` },
    body: `[${undo},${earlier("ping", {}, 2)},${earlier("ping", {}, 3)}]`,
    signal: leaving.signal,
  }).catch(() => {});
  await until(() => existsSync(began), 10_000, "the undo");
  leaving.abort();
  await gone;
  await until(() => ended.length >= 3, 10_000, "the end of the request");
  await service.call("POST", "~/mcp", { key: text, body: earlier("ping") });
  // The handshake, the undo, the array and the last message.
  expect(ended).toEqual([200, 503, 200, 200]);
});
