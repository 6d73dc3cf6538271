import { expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { call, type TestResponse } from "../support/service.ts";
import { until } from "../support/until.ts";

const codeOf = (response: TestResponse) => (response.json as { code: string }).code;

test("petstore keys unban takes effect in a running service on the next request", async () => {
  const place = openWorkspace();
  try {
    const flags = ["--ban-grace-ms", "1", "--ban-strikes-min", "3"];
    const served = await place.serve(["serve", ...flags]);
    const plan = ["--plan", "enterprise", "--per-minute", "1", "--per-day", "1"];
    const made = await place.json<{ id: string; key: string }>(
      "keys",
      "create",
      "--name",
      "a",
      ...plan,
    );
    const askServed = () => call(served.baseUrl, "GET", "/inventory", { key: made.key });
    expect((await askServed()).status).toBe(200);
    let refused = await askServed();
    while (codeOf(refused) !== "key_banned") refused = await askServed();
    await served.wrote('"key banned"');
    const isStored = async () => {
      const { bannedUntil } = await place.json("keys", "show", made.id);
      return Date.parse(String(bannedUntil)) > Date.now();
    };
    await until(isStored, 5_000, "the ban in the store");
    expect(await place.json("keys", "unban", made.id)).toEqual({ id: made.id, lifted: true });
    expect(codeOf(await askServed())).toBe("rate_limit_exceeded");
  } finally {
    await place.leave();
  }
});
