import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { replicaAgeMsMax } from "../../src/domain/operations/replica.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { scrape } from "../support/metrics.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
afterAll(() => place.leave());
const password = "hunter2";

/** What the metrics, the view of backups and the list of what needs attention say. */
async function stateOf(service: TestService, key: string) {
  const name = "petstore_replica_age_seconds";
  const get = async (path: string) => (await service.call("GET", `~/admin${path}`, { key })).json;
  const { attention } = (await get("/service")) as { attention: { text: string }[] };
  return {
    age: (await scrape(service.metricsUrl)).get(name)!.samples.get(name),
    replica: ((await get("/backups")) as { replica: Record<string, unknown> | null }).replica,
    attention: attention.map(({ text }) => text).filter((text) => text.includes("copy")),
  };
}

const eventsOf = ({ logged }: TestService) =>
  logged.map((line) => JSON.parse(line)).filter(({ event }) => event.startsWith("replica"));

test("the state of the copy is in metrics, console and log; a check that hangs is ended with all that it started, and nothing is shown of a command", async () => {
  const [current, slow, pids] = ["current", "slow", "pids"].map(place.path) as [
    string,
    string,
    string,
  ];
  // Idle, and not for ever: what a failure of this test leaves behind must not slow the machine down.
  const hang = `if [ -e ${slow} ]; then sleep 60 & echo $! $$ > ${pids}; wait; fi`;
  const command = `PASSWORD=${password}; echo $PASSWORD >&2; ${hang}; test -e ${current} || exit 3`;
  const flags = { "metrics-port": "0", "replica-check": command };
  // Before the first check.
  writeFileSync(current, "");
  const service = await startTestService("sqlite", flags, { replicaCheckEveryMs: 450 });
  const { clock } = service;
  const { text: key } = await issueOperator(service);
  const becomes = (error: string | null, what: string) =>
    until(
      async () => {
        const { replica } = await stateOf(service, key);
        return replica?.startedAt !== null && replica?.error === error;
      },
      10_000,
      what,
    );

  await becomes(null, "a current copy");
  const checkedAt = new Date(clock.now()).toISOString();
  expect(await stateOf(service, key)).toMatchObject({
    age: 0,
    replica: { succeededAt: checkedAt, failedAt: null },
    attention: [],
  });
  expect(eventsOf(service)).toEqual([]);

  rmSync(current);
  const error = "the command ended with exit code 3";
  await becomes(error, "a failure");
  expect(eventsOf(service)).toMatchObject([{ event: "replica not current", error }]);
  clock.advance(replicaAgeMsMax + 5_000);
  await until(() => eventsOf(service).length === 2, 10_000, "an old copy");
  expect(eventsOf(service)[1]).toEqual({ event: "replica too old", ageSeconds: 305, error });
  expect(await stateOf(service, key)).toMatchObject({
    age: 305,
    replica: { succeededAt: checkedAt, error },
    attention: [`The continuous copy is not current: ${error}.`],
  });

  writeFileSync(slow, "");
  await becomes("the check took too long", "a check that takes too long");
  expect((await service.call("GET", "~/readyz")).status).toBe(200);
  const started = readFileSync(pids, "utf8").trim().split(" ");
  await until(() => started.every(isEnded), 10_000, "the end of the command and of its child");

  rmSync(slow);
  writeFileSync(current, "");
  await becomes(null, "a current copy again");
  expect(eventsOf(service).at(-1)).toMatchObject({ event: "replica current again" });
  expect(await stateOf(service, key)).toMatchObject({ age: 0, attention: [] });

  // A stop during a check does not wait for it.
  rmSync(pids);
  writeFileSync(slow, "");
  await until(() => existsSync(pids), 10_000, "another check that hangs");
  await service.stop();
  const last = readFileSync(pids, "utf8").trim().split(" ");
  await until(() => last.every(isEnded), 10_000, "the end of the last check");

  const config = await place.runHere(["config", "--replica-check", command]);
  expect(config.out).toContain("[hidden]");
  expect([service.logged.join(), config.out].join()).not.toContain(password);
});

/** Whether a process has ended, perhaps without a parent that has asked for its exit code. */
function isEnded(pid: string): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
}

test("without a check there is no age, and a store on PostgreSQL cannot have one", async () => {
  const service = await startTestService("sqlite", { "metrics-port": "0" });
  const { text: key } = await issueOperator(service);
  expect(await stateOf(service, key)).toEqual({ age: undefined, replica: null, attention: [] });
  await service.stop();
  const ran = place.path("ran");
  const words = ["--database", "postgres://127.0.0.1:1/shop", "--replica-check", `touch ${ran}`];
  const { code, err } = await place.runHere(["serve", "--port", "0", ...words]);
  const reason = "--replica-check is for stores on SQLite: remove it, and see docs/backup.md";
  expect({ code, err: err.trim() }).toEqual({ code: 2, err: `petstore: ${reason}` });
  expect(existsSync(ran)).toBe(false);
});
