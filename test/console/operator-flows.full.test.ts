import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { auditEntry, byCommand } from "../../src/domain/audit/audit.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  closeSecret,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  showView,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const wideId = "9223372036854775807";
const parent = mkdtempSync(join(tmpdir(), "petstore-backups-"));
const folder = join(parent, "backups");
let service: TestService;
let opened: ConsolePage;
let page: Page;
beforeAll(async () => {
  const flags = {
    "backup-folder": folder,
    "webhooks-allow-insecure": "on",
    "webhooks-allowed-networks": "127.0.0.0/8",
  };
  service = await startTestService(surfaceEngine, flags, {}, { program });
  await service.addPets(
    { petId: 1n, name: "Rex", quantity: 10 },
    { petId: BigInt(wideId), name: "Last", quantity: 3 },
  );
  opened = await openConsole(service, "/webhooks");
  ({ page } = opened);
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of (?:400|503)/]);
  await closeBrowser();
  await service.stop();
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

test("a webhook is created with a filter, and its secret is shown once", async () => {
  await page.getByText("There are no webhooks yet").waitFor();
  await button("New webhook").click();
  await button("Create webhook").click();
  await dialog().getByText("Enter the full URL").waitFor();
  // Nothing listens there.
  const hooks = "http://127.0.0.1:1024/hooks";
  await page.getByLabel("URL").fill(hooks);
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
    ...{ name: longName, url: hooks },
    filter: { pets: [1n, 9_007_199_254_740_993n], statuses: null, causes: ["api"], below: null },
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
  await page.locator(`[data-row="${name}"]`).waitFor();
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
  const rows = page.locator("tr[data-row]");
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

test("a colleague is invited as a clerk, and becomes a viewer", async () => {
  await open("/keys?new=colleague");
  await page.locator("dialog [name=name]:focus").waitFor();
  await page.keyboard.insertText("Carl");
  expect(await page.getByRole("radio", { name: "Clerk" }).isChecked()).toBe(true);
  await expectAccessible();
  await button("Create key").click();
  const key = (await page.locator("[data-secret]").textContent())!;
  await dialog().getByText("signs in to this console with it").waitFor();
  await closeSecret(opened);
  const ask = async () => (await service.call("GET", "~/admin/session", { key })).json;
  expect(await ask()).toMatchObject({ operator: { name: "Carl", role: "clerk" } });
  await page.getByRole("link", { name: "Carl" }).click();
  await page.getByText("Clerk: changes stock").waitFor();
  await button("Change…").click();
  await page.getByRole("radio", { name: "Viewer" }).check();
  await button("Save").click();
  await page.getByText("Viewer: only reads").waitFor();
  expect(await ask()).toMatchObject({ operator: { role: "viewer" } });
  await button("Revoke…").click();
  await button("Revoke").click();
  await page.locator(".badge", { hasText: "revoked" }).waitFor();
});

test("a good file shows every difference, and is imported only after the decision", async () => {
  const { text: key } = await service.issueKey();
  const before = (await service.store.inventory.readHead()).seq;
  const file = `petId,name,quantity\n1,Rex,12\n${wideId},"${markup.replaceAll('"', '""')}",3\n5,New here,4\n`;
  await open("/import");
  const buffer = Buffer.from(file);
  const chosen = { name: "delivery.csv", mimeType: "text/csv", buffer };
  await page.setInputFiles("#import-file", chosen);
  const region = (name: string) => page.getByRole("region", { name, exact: true });
  await region("Differences").last().waitFor();
  const rows = await page.locator(".scroll-table tbody tr").allTextContents();
  expect(rows).toContain("1quantity1012");
  expect(rows).toContain(`${wideId}nameLast${markup}`);
  expect(rows).toContain("5quantity4");
  expect(await page.locator(".import-totals").textContent()).toBe("New1Changed2Unchanged0");
  expect((await service.store.inventory.readHead()).seq).toBe(before);
  expect(await seriousFindings(page)).toEqual([]);

  await button("Import 3 pets").click();
  await region("Result").waitFor();
  expect(await page.locator(".import-totals").textContent()).toBe("New1Changed2Unchanged0");
  const { json } = await service.call("GET", `/changes?after=${before}`, { key });
  expect(json).toMatchObject([
    { petId: 1, after: { quantity: 12 }, cause: "import", keyName: "Ada" },
    { petId: 5, before: null, after: { quantity: 4 }, reason: "import of delivery.csv" },
  ]);
  await page.getByText("See the changes").click();
  await page.locator("[data-row]", { hasText: "New here" }).waitFor();
  expect(await page.title()).not.toContain("stolen");
});
