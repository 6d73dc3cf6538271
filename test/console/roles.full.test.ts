import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
  showView,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

// What the page shows depends on the role and not on the engine. test/admin/roles.test.ts has both.
let service: TestService;
let backupFolder: string;
let opened: ConsolePage;
beforeAll(async () => {
  backupFolder = mkdtempSync(join(tmpdir(), "petstore-backups-"));
  service = await startTestService(
    surfaceEngine,
    { "backup-folder": backupFolder },
    {},
    { program },
  );
});
afterEach(() => opened.context.close());
afterAll(async () => {
  await service.stop();
  rmSync(backupFolder, { recursive: true });
  await closeBrowser();
});

const open = async (...[path, options]: [string, Parameters<typeof openConsole>[2]]) => {
  opened = await openConsole(service, path, options);
  return opened.page;
};
const navigation = () => opened.page.locator("#navigation a").allTextContents();
const button = (name: string) => opened.page.getByRole("button", { name });
const title = (name: string) => opened.page.getByRole("heading", { name, level: 1 });

async function expectAccessible(): Promise<void> {
  expect(await seriousFindings(opened.page)).toEqual([]);
  expect(await fitsWidth(opened.page)).toBe(true);
}

test("a new store shows the first steps until they are done or hidden", async () => {
  const page = await open("", { operator: "Ada" });
  const steps = page.getByRole("region", { name: "First steps" });
  const heading = (done: number) => page.getByText(`First steps: ${done} of 4 done`);
  await heading(0).waitFor();
  await expectAccessible();
  await service.addPets({ petId: 1n, name: "Rex", quantity: 3 }, { petId: 2n });
  await heading(1).waitFor();
  await steps.getByRole("link", { name: "Create a key for the web shop" }).click();
  await page.locator("dialog [name=name]:focus").waitFor();
  const isChosen = (name: string) => page.getByLabel(name).isChecked();
  expect([await isChosen("Business"), await isChosen("Read the history")]).toEqual([true, false]);
  await page.getByRole("radio", { name: "Till" }).check();
  expect([await isChosen("Pro"), await isChosen("Read orders")]).toEqual([true, false]);
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/keys$/);

  await service.issueKey();
  const { text: key } = await issueOperator(service, "Backups");
  await service.call("POST", "~/admin/backups", { key });
  await service.call("POST", `~/admin/keys/${await idOf("Backups")}/revoke`, { key });
  await showView(page, "/");
  await heading(3).waitFor();
  await expectAccessible();
  await button("Hide").click();
  await steps.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { name: "Latest changes" }).waitFor();
  expect(await page.evaluate(() => localStorage.getItem("petstore-first-steps"))).toBe("hidden");
  expect(await steps.count()).toBe(0);

  await page.evaluate(() => localStorage.clear());
  await issueOperator(service, "Grace");
  const keys = page.waitForResponse((response) => response.url().endsWith("/admin/keys"));
  await page.reload();
  await (await keys).finished();
  await page.getByRole("heading", { name: "Latest changes" }).waitFor();
  expect(await steps.count()).toBe(0);
  expectNoComplaints(opened, service);
});

const idOf = async (name: string) =>
  (await service.store.keys.listKeys()).find((key) => key.name === name)!.id;

test("a clerk works with the stock and sees no keys; a change of the role counts at once", async () => {
  const page = await open("/stock", { role: "clerk", operator: "Carl" });
  const shown = ["Overview", "Stock", "Activity", "History", "Import", "Orders", "Audit log"];
  expect(await navigation()).toEqual([...shown, "API reference"]);
  await button("Add pet").waitFor();
  for (const path of ["/keys", "/webhooks", "/backups"]) {
    await showView(page, path);
    await title("Your role does not allow this").waitFor();
    await page.getByText("Ask an owner for the role owner.").waitFor();
  }
  await expectAccessible();
  await showView(page, "/activity");
  await title("Activity").waitFor();
  await showView(page, "/audit");
  await page.locator(".audit-action", { hasText: "Created a key" }).first().waitFor();
  await showView(page, "/stock/count");
  await title("Count the stock").waitFor();
  await showView(page, "/stock");
  const cell = page.locator("[data-pet='1'] .cell-quantity");
  const save = async (quantity: string) => {
    await cell.click();
    await page.keyboard.type(quantity);
    await page.keyboard.press("Enter");
  };
  await save("5");
  await page.getByText("3 → 5").waitFor();
  expectNoComplaints(opened, service);

  const { text: key } = await issueOperator(service, "Olga");
  const change = { key, body: '{"role":"viewer"}' };
  await service.call("PATCH", `~/admin/keys/${await idOf("Carl")}`, change);
  await save("6");
  await page.getByText("role clerk or owner").first().waitFor();
  await page.reload();
  await page.locator("[data-pet='1']").waitFor();
  expect(await button("Add pet").count()).toBe(0);
  expectNoComplaints(opened, service, [/status of 403/]);
});

test("a viewer reads everything but keys, webhooks and backups, and finds nothing to change", async () => {
  const page = await open("/stock", { role: "viewer", ...phone });
  const shown = ["Overview", "Stock", "Activity", "History", "Export", "Orders", "Audit log"];
  expect(await navigation()).toEqual([...shown, "API reference"]);
  await page.locator("[data-pet='1']").waitFor();
  expect(await button("Add pet").count()).toBe(0);
  await page.locator("[data-pet='1'] .cell-name").click();
  await showView(page, "/stock/1");
  await page.getByRole("dialog").getByText("Category").first().waitFor();
  expect(await page.getByRole("dialog").getByRole("textbox").count()).toBe(0);
  await expectAccessible();
  await page.keyboard.press("Escape");
  await showView(page, "/stock/count");
  await page.getByText("Ask an owner for the role clerk.").waitFor();
  await showView(page, "/activity");
  await page.locator("[data-row]").first().waitFor();
  expect(await button("Undo").count()).toBe(0);
  await showView(page, "/import");
  await title("Export").waitFor();
  expect(await page.locator("input[type=file]").count()).toBe(0);
  await showView(page, "/orders");
  await page.getByText("There are no orders yet").waitFor();
  await showView(page, "/");
  await page.getByRole("heading", { name: "Latest changes" }).waitFor();
  expect(await page.getByText("First steps").count()).toBe(0);
  await expectAccessible();
  expectNoComplaints(opened, service);
});
