import { afterAll, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("the log has the format and the level of the settings, and the start and the stop", async () => {
  const service = await place.serve(["serve", "--log-format", "text", "--env", "staging"]);
  await service.wrote("INFO  started");
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  const lines = service.written().split("\n");
  const logged = lines
    .filter((line) => /^\d{4}-\d\d-\d\dT/.test(line))
    .map((line) => line.slice(25));
  expect(logged).toEqual([
    expect.stringMatching(/^INFO {2}store created store=\S+ schema=\d+$/),
    expect.stringMatching(
      /^INFO {2}started version=\S+ environment=staging address=\S+ engine=SQLite schema=\d+$/,
    ),
    "INFO  stopping signal=SIGTERM",
    "INFO  stopped",
  ]);
  const quiet = await place.serve(["serve", "--log-level", "error"]);
  quiet.kill("SIGTERM");
  expect(await quiet.exited).toBe(0);
  expect(quiet.written()).not.toContain('"level"');
});
