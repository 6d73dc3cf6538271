import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { beginSession } from "../../src/domain/catalogue/assistant-sessions.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { createTestClock } from "../support/clock.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  openConsole,
  phone,
  showView,
  tooWide,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

afterAll(closeBrowser);

describe.each([surfaceEngine])("Activity on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  let till: { id: string; text: string };
  beforeAll(async () => {
    // The command that imports and undoes has the time of the machine.
    const clock = createTestClock(Date.now());
    service = await startTestService(engine, {}, {}, { program, clock });
    till = await service.issueKey({ name: "Till" });
    await service.addPets(
      { petId: 1n, name: "Rex", quantity: 10 },
      { petId: 2n, name: "Luna", quantity: 5, status: "pending" },
      { petId: 3n, name: "Coral", quantity: 7 },
    );
    opened = await openConsole(service, "/import");
    page = opened.page;
  });
  afterAll(async () => {
    expectNoComplaints(opened, service);
    await opened.context.close();
    await service.stop();
  });

  const sell = async (petId: number) => {
    const body = JSON.stringify({ changes: [{ petId, delta: -1 }] });
    expect((await service.call("POST", "/changes", { key: till.text, body })).status).toBe(200);
  };
  const quantities = async () =>
    (await service.store.inventory.entriesAfter(null, 3)).map(({ quantity }) => quantity);

  test("finds a wrong import and undoes it, and keeps what was sold since if the person wants", async () => {
    const lines = "petId,quantity,status\n1,100,available\n2,500,available\n3,700,available\n";
    const file = { name: "wrong.csv", mimeType: "text/csv", buffer: Buffer.from(lines) };
    await page.setInputFiles("#import-file", file);
    await page.getByRole("button", { name: "Import 3 pets" }).click();
    await page.getByRole("button", { name: "Record 100" }).click();
    await page.getByRole("region", { name: "Result" }).waitFor();
    await sell(2);

    await showView(page, "/activity");
    await page.fill("#filter-pet", "cor");
    await page.locator("#filter-pets option").waitFor({ state: "attached" });
    await page.keyboard.press("Enter");
    await page.waitForURL(/pet=3$/);
    await page.getByText("All that belongs to it").click();
    await page.waitForURL(/request=req_/);
    await page.getByText("Undo what this filter shows").click();
    const dialog = page.locator("dialog", { hasText: "3 changes found" });
    await dialog.getByText("499 → 4").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByText("Undo 2 pets").waitFor();
    await dialog.getByText("keep what happened since").click();
    // One more is sold while the person reads. That is kept, too.
    await sell(3);
    await dialog.getByText("Undo 3 pets").click();
    await page.getByText("3 pets undone").first().waitFor();
    expect(await quantities()).toEqual([10, 4, 6]);
    const [, luna] = await service.store.inventory.entriesAfter(null, 2);
    expect(luna!.status).toBe("pending");
  });

  test("shows the session of an assistant, and undoes it", async () => {
    const before = await quantities();
    const session = beginSession(till.id, service.clock.now());
    const body = (reason: string) =>
      JSON.stringify({ changes: [1, 2, 3].map((petId) => ({ petId, delta: 20, reason })) });
    for (const reason of [`delivery [${session}]`, `more [${session}]`, `[${session}x]`, "other"]) {
      await service.call("POST", "/changes", { key: till.text, body: body(reason) });
    }
    await showView(page, "/activity");
    await page.getByText("Session of an assistant").first().click();
    await page.getByText(`Only session ${session}`).waitFor();
    const shown = page.locator("tr[data-row]");
    await shown.nth(5).waitFor();
    expect(await shown.count()).toBe(6);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText("Undo what this filter shows").click();
    const dialog = page.locator("dialog", { hasText: "6 changes found" });
    await dialog.getByText("keep what happened since").click();
    await dialog.getByText("Undo 3 pets").click();
    await dialog.waitFor({ state: "detached" });
    expect(await quantities()).toEqual(before.map((quantity) => quantity + 40));
  });

  test("shows a period, and undoes what one key did in it", async () => {
    await showView(page, "/activity");
    await page.selectOption("#filter-period", { label: "Yesterday" });
    await page.waitForURL(/since=.*&until=/);
    const now = service.clock.now();
    const [since, until] = [-1, 1].map((days) => new Date(now + days * 86_400_000).toISOString());
    await showView(page, `/activity?key=${till.id}&since=${since}&until=${until}`);
    await page.setViewportSize(phone.viewport!);
    await page.getByText("Undo what this filter shows").click();
    // The undo of the import came after the sales.
    const dialog = page.locator("dialog", { hasText: "14 changes found" });
    await dialog.getByText("3 pets left out").waitFor();
    expect(await tooWide(page)).toEqual([]);
    await dialog.getByText("Cancel").click();
  });
});
