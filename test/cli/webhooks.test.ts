import { afterAll, beforeAll, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { createStore, importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { answer, confirm, startReceiver } from "../support/webhooks/receiver.ts";

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
  const paused = await place.runHere(["webhooks", "pause", id!]);
  expect(paused.out).toBe(`Webhook ${id} (Shop) is paused.\n`);
  const replayed = await place.runHere(["webhooks", "replay", id!, "--from", "1"]);
  expect(replayed.out).toContain(`It is still paused.`);
  const shown = await place.runHere(["webhooks", "show", id!]);
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

test("a test message and a message again are sent from this machine, and the exit code says how it went", async () => {
  const receiver = await startReceiver(answer(200, {}, "fine"));
  const { id } = await place.json<{ id: string }>("webhooks", "create", "--url", receiver.url);
  const tested = await place.runHere(["webhooks", "test", id]);
  expect(tested).toMatchObject({ code: 0, err: "" });
  expect(tested.out).toMatch(
    /^TIME +MESSAGE +CHANGES +MS +RESULT +ANSWER\n.* test +\d+ +status 200 +fine\n$/,
  );
  receiver.behave(answer(500));
  const failed = await place.runHere(["webhooks", "test", id, "--json"]);
  expect(failed).toMatchObject({ code: 1, err: "" });
  const { messageId, ...attempt } = JSON.parse(failed.out) as { messageId: string };
  expect(attempt).toMatchObject({ status: 500, changes: 0 });
  const { attempts } = await place.json<{ attempts: object[] }>("webhooks", "show", id);
  expect(attempts).toMatchObject([
    { messageId, status: 500 },
    { status: 200, answer: "fine" },
  ]);

  // The message of a service that runs at the same time.
  receiver.behave(confirm);
  await importPets(`sqlite:${place.path("data/production.db")}`, '{"petId":1,"name":"Rex"}');
  const served = await place.serve();
  await until(() => receiver.confirmed.length > 0, 10_000, "the delivery");
  const delivered = receiver.received.at(-1)!;
  const sent = delivered.headers["webhook-id"]!;
  const logged = async () =>
    (await place.json<{ attempts: { messageId: string }[] }>("webhooks", "show", id)).attempts;
  await until(async () => (await logged())[0]?.messageId === sent, 10_000, "the log");
  const again = await place.runHere(["webhooks", "resend", id, sent]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining(sent) });
  expect(receiver.received.at(-1)!.body).toBe(delivered.body);
  expect(await logged()).toHaveLength(4);
  const unknown = await place.runHere(["webhooks", "resend", id, "msg_0"]);
  expect(unknown).toMatchObject({
    code: 2,
    err: expect.stringContaining("no message with this ID"),
  });
  served.kill("SIGTERM");
  expect(await served.exited).toBe(0);

  // The settings of this command, not those with which the webhook was created.
  const env = { PETSTORE_WEBHOOKS_ALLOWED_NETWORKS: "10.0.0.0/8" };
  const inside = await place.runHere(["webhooks", "test", id], { env });
  expect(inside).toMatchObject({ code: 1, out: expect.stringContaining("not a public address") });
  expect(receiver.received).toHaveLength(4);
  await receiver.stop();
});
