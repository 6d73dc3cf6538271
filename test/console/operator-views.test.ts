import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { auditEntry, byCommand } from "../../src/domain/audit/audit.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  showView,
} from "../support/console.ts";
import { until } from "../support/instances/fleet.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { answer, confirm, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";

const parent = mkdtempSync(join(tmpdir(), "petstore-backups-"));
const folder = join(parent, "backups");
let service: TestService;
let receiver: Receiver;
let opened: ConsolePage;
let page: Page;
beforeAll(async () => {
  const flags = {
    "backup-folder": folder,
    "webhooks-allow-insecure": "on",
    "webhooks-allowed-networks": "127.0.0.0/8",
  };
  const webhooks = {
    ...{ timeoutMs: 3_000, leaseMs: 30_000, leaseLeftMinMs: 20_000 },
    ...{ renewEveryMs: 50, renewLocallyEveryMs: 50 },
  };
  service = await startTestService(surfaceEngine, flags, { webhooks }, { program });
  await service.addPets({ petId: 1n, quantity: 10 });
  receiver = await startReceiver();
  opened = await openConsole(service, "/webhooks");
  ({ page } = opened);
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of (?:400|503)/]);
  await closeBrowser();
  await service.stop();
  await receiver.stop();
  rmSync(parent, { recursive: true });
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const open = (path: string) => showView(page, path);
const markup = `<img src=x onerror="document.title='stolen'">`;
const longName = `${markup} ${"z".repeat(150)}`;

async function expectAccessible(): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await fitsWidth(page)).toBe(true);
}

/** Shows the page as it is after everything that has happened. */
async function refreshed(text: string): Promise<void> {
  await until(
    async () => {
      await page.reload();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      return page.getByText(text).first().isVisible();
    },
    10_000,
    `the text ${text}`,
  );
}

describe("webhooks", () => {
  let key: string;
  const change = async (quantity: number) => {
    const body = JSON.stringify({ quantity });
    expect((await service.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
  };
  beforeAll(async () => {
    key = (await service.issueKey()).text;
  });

  test("a webhook is created with a filter, and its secret is shown once", async () => {
    await page.getByText("There are no webhooks yet").waitFor();
    await button("New webhook").click();
    await button("Create webhook").click();
    await dialog().getByText("Enter the full URL").waitFor();
    await page.getByLabel("URL").fill(`${receiver.url}/hooks`);
    await page.getByLabel("Name (optional)").fill(longName);
    await page.getByText("Only some changes").click();
    await page.getByLabel("Pets").fill("1, 9007199254740993");
    await page.getByRole("checkbox", { name: "A client of the API" }).check();
    await button("Create webhook").click();
    const secret = (await page.locator("[data-secret]").textContent())!;
    expect(secret).toStartWith("whsec_");
    await button("I have stored the secret").click();
    await page.getByRole("link", { name: longName }).waitFor();
    await expectAccessible();
    await page.getByRole("link", { name: longName }).click();
    await page.getByText("Only changes of the pets 1, 9007199254740993").waitFor();
    expect((await page.content()).includes(secret)).toBe(false);
    const [webhook] = await service.store.webhooks.listWebhooks();
    expect(webhook).toMatchObject({
      ...{ name: longName, url: `${receiver.url}/hooks` },
      filter: { pets: [1n, 9_007_199_254_740_993n], statuses: null, causes: ["api"], below: null },
    });
  });

  test("its attempts show what the receiver said, and hostile responses are only text", async () => {
    await change(11);
    await until(() => receiver.confirmed.length === 1, 10_000, "the delivery");
    await refreshed("delivered");
    receiver.behave(answer(500, {}, `${markup.repeat(3)}`));
    await change(12);
    await refreshed("failing");
    expect(await page.locator("td .badge.danger").first().textContent()).toBe("Failed");
    await page.locator("td summary").first().click();
    expect(await page.locator("pre.answer").first().textContent()).toBe(markup.repeat(3));
    await expectAccessible();
    receiver.behave(confirm);
  });

  test("it is paused, resumed and replayed", async () => {
    await button("Pause").click();
    await page.locator(".badge", { hasText: "paused" }).waitFor();
    await change(13);
    await button("Resume").click();
    await page.locator(".badge", { hasText: "active" }).waitFor();
    await until(() => receiver.confirmed.at(-1) === 4, 10_000, "all changes");
    expect(receiver.confirmed).toEqual([2, 3, 4]);
    await button("Replay…").click();
    await page.getByLabel("From change").fill("99");
    await button("Replay").click();
    await dialog().getByText("from 1 to 5").waitFor();
    await page.getByLabel("From change").fill("3");
    await button("Replay").click();
    await dialog().waitFor({ state: "detached" });
    await until(() => receiver.confirmed.length === 5, 10_000, "the replay");
    expect(receiver.confirmed).toEqual([2, 3, 4, 3, 4]);
  });

  test("a test message and a message that is sent again show how the receiver responds", async () => {
    receiver.behave(answer(418, {}, "short and stout"));
    await button("Send a test message").click();
    await page.getByText("The receiver responded with 418").waitFor();
    const row = page.locator("tbody tr", { hasText: "Test" });
    await row.getByText("short and stout").waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    expect(receiver.received.at(-1)!.body).toStartWith('{"type":"test",');
    receiver.behave(confirm);
    // The attempts are told apart by their times.
    service.clock.advance(1_000);
    await button("Send again").first().click();
    await page.getByText("The receiver responded with 204").waitFor();
    expect(receiver.confirmed).toEqual([2, 3, 4, 3, 4, ...receiver.received.at(-1)!.seqs]);
    await page.locator("tbody tr", { hasText: "Delivered" }).nth(3).waitFor();
    await expectAccessible();
  });

  test("its secret is rotated with an overlap, and it is removed after a question", async () => {
    await button("Rotate the secret…").click();
    await button("Rotate").click();
    const secret = (await page.locator("[data-secret]").textContent())!;
    await button("I have stored the secret").click();
    await page.getByText("Also signs until").waitFor();
    const [webhook] = await service.store.webhooks.listWebhooks();
    expect(webhook!.secrets.current).toBe(secret);
    const done = page.locator(".audit-action");
    await done.nth(4).waitFor();
    expect(await done.allTextContents()).toEqual([
      "Rotated a webhook’s secret",
      "Sent a message again",
      "Sent a test message",
      "Replayed a webhook",
      "Resumed a webhook",
      "Paused a webhook",
      "Created a webhook",
    ]);
    await button("Remove…").click();
    await dialog().getByText(markup).waitFor();
    await button("Cancel").click();
    expect(await service.store.webhooks.listWebhooks()).toHaveLength(1);
    await button("Remove…").click();
    await button("Remove").click();
    await page.getByText("There are no webhooks yet").waitFor();
    expect(await service.store.webhooks.listWebhooks()).toEqual([]);
  });
});

test("a backup is made and listed, and a failure is explained", async () => {
  await open("/backups");
  await page.getByText("The service makes no backups by itself.").waitFor();
  await page.getByText("No backup yet.").waitFor();
  writeFileSync(folder, "");
  await button("Make a backup now").click();
  await page.locator(".toast.danger", { hasText: "The backup failed" }).waitFor();
  await page.getByText("Failed at").waitFor();
  rmSync(folder);
  service.clock.advance(1_000);
  await button("Make a backup now").click();
  await page.locator(".toast.success", { hasText: "Made a backup of" }).waitFor();
  const [name] = readdirSync(folder);
  await page.locator(`[data-file="${name}"]`).waitFor();
  await expectAccessible();
  const [entry] = await service.store.audit.listEntries({ action: "backup.made" }, 1);
  expect(entry).toMatchObject({ target: name!, keyName: "Ada" });
});

test("the audit log shows the newest rows first, older ones on demand, and finds what is searched", async () => {
  const named = { name: `${markup} \u202e`, plan: "free" };
  await service.store.audit.addEntry(
    auditEntry(byCommand(service.clock.now()), "key.changed", "key_lost", named),
  );
  const renamed = { name: { from: "Rex", to: "Max" }, category: { from: null, to: "dogs" } };
  for (let count = 0; count < 100; count += 1) {
    const now = service.clock.now();
    const entry = auditEntry(byCommand(now), "pet.changed", String(count), renamed);
    await service.store.audit.addEntry(entry);
  }
  await open("/audit");
  const rows = page.locator("tr[data-seq]");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(100);
  const details = rows.first().locator(".audit-details li");
  expect(await details.allInnerTexts()).toEqual(["name Rex → Max", "category none → dogs"]);
  await button("Show older").click();
  await page.getByText("Created a webhook").last().waitFor();
  expect(await rows.count()).toBeGreaterThan(100);
  const seqs = await rows.evaluateAll((all) => all.map((row) => Number(row.dataset.seq)));
  expect(seqs).toEqual([...seqs].sort((one, other) => other - one));
  await page.getByRole("link", { name: named.name }).waitFor();

  await page.getByLabel("What was done").selectOption("Signed in");
  await page
    .locator("td", { hasText: "Changed the details" })
    .first()
    .waitFor({ state: "detached" });
  const signIns = (await service.store.audit.listEntries({ action: "session.started" }, 9)).length;
  await rows.nth(signIns - 1).waitFor();
  expect(await rows.count()).toBe(signIns);
  await expectAccessible();
  await page.getByLabel("Operator").selectOption("Ada");
  await page.getByLabel("Id of a key").fill("key_lost");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing matches").waitFor();
  await button("Show everything").click();
  await rows.nth(99).waitFor();
  await page.getByLabel("Id of a key").fill("no id at all");
  await page.keyboard.press("Enter");
  await page.getByText("The log could not be loaded").waitFor();
  expect(await page.title()).toBe("Audit log – Pet Store Inventory");
});
