import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { answer, confirm, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";

const markup = `<img src=x onerror="document.title='stolen'">`;
const longName = `${markup} ${"z".repeat(150)}`;
let service: TestService;
let receiver: Receiver;
let opened: ConsolePage;
let page: Page;
beforeAll(async () => {
  const flags = {
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
  const { text: key } = await issueOperator(service, "Grace");
  const url = `${receiver.url}/hooks`;
  const body = JSON.stringify({ name: longName, url, pets: [1], causes: ["api"] });
  const { json } = await service.call("POST", "~/admin/webhooks", { key, body });
  opened = await openConsole(service, `/webhooks/${(json as { id: string }).id}`);
  ({ page } = opened);
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of (?:400|503)/]);
  await closeBrowser();
  await service.stop();
  await receiver.stop();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");

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
