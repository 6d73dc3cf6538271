import { afterAll, beforeAll, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace({
  PETSTORE_WEBHOOKS_ALLOW_INSECURE: "on",
  PETSTORE_WEBHOOKS_ALLOWED_NETWORKS: "127.0.0.0/8",
});
beforeAll(() => createStore(`sqlite:${place.path("data/production.db")}`));
afterAll(() => place.leave());

test("an operator manages a webhook, and sees a secret only when it is made", async () => {
  const created = await place.runHere([
    ...["webhooks", "create", "--url", "http://127.0.0.1:9999/a", "--name", "Shop"],
    ...["--pets", "1,9223372036854775807", "--below", "5"],
  ]);
  expect(created).toMatchObject({ code: 0, err: "" });
  const [, id, secret] = /^id: {6}(wh_\w+)\nsecret: {2}(whsec_\S+)\n$/.exec(created.out)!;

  const rotated = await place.json<{ secret: string }>("webhooks", "rotate", id!);
  expect(rotated.secret).toStartWith("whsec_");
  const paused = await place.run(["webhooks", "pause", id!]);
  expect(paused.out).toBe(`Webhook ${id} (Shop) is paused.\n`);
  const replayed = await place.runHere(["webhooks", "replay", id!, "--from", "1"]);
  expect(replayed.out).toContain(`It is still paused.`);
  const shown = await place.run(["webhooks", "show", id!]);
  expect(shown.out).toMatch(/^state +paused$/m);
  expect(shown.out).toMatch(/^reason +paused by an operator$/m);
  expect(shown.out).toMatch(/^filter +pets 1,9223372036854775807; below 5$/m);
  expect(shown.out).toMatch(/^behind +0$/m);
  const listed = await place.runHere(["webhooks", "list"]);
  expect(listed.out).toMatch(new RegExp(`^${id} +paused +0 +Shop +http://127.0.0.1:9999/a$`, "m"));
  const json = await place.runHere(["webhooks", "show", id!, "--json"]);
  expect(json.out).toContain('"pets":[1,9223372036854775807]');
  expect(JSON.parse(json.out)).toMatchObject({ id, state: "paused", attempts: [] });
  for (const { out } of [paused, replayed, shown, listed, json]) {
    expect(out).not.toContain("whsec_");
    expect(out).not.toContain(secret!.slice(6, 20));
  }
  expect((await place.runHere(["webhooks", "resume", id!])).out).toContain("is active");
  expect((await place.runHere(["webhooks", "delete", id!])).code).toBe(0);
  expect((await place.runHere(["webhooks", "list"])).out).toContain("There are no webhooks.");
});

test("a mistake names the flag, and a host that does not resolve is a note", async () => {
  const create = (...words: string[]) => place.runHere(["webhooks", "create", ...words]);
  expectUsageError(await create(), "--url is required");
  expectUsageError(await create("--url", "http://10.0.0.1/"), "--url");
  const url = "https://receiver.invalid/";
  expectUsageError(await create("--url", url, "--below", "0"), "--below must be an integer from 1");
  expectUsageError(
    await create("--url", url, "--from", "9"),
    "--from must be the number of a change",
  );
  const noted = await create("--url", url);
  expect(noted).toMatchObject({ code: 0, err: expect.stringContaining("does not resolve") });
  const missing = await place.runHere(["webhooks", "show", "wh_0"]);
  expect(missing.err).toBe("petstore: there is no webhook wh_0\n");
});
