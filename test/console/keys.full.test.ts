import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { scopes } from "../../src/domain/keys/keys.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { anEntry } from "../support/audit.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  closeSecret,
  consoleUrl,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  showView,
} from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

afterAll(closeBrowser);

const hostileName = `<img src=x onerror="document.title='stolen'"> \u202e🐢 ${"x".repeat(120)}`;

describe.each([surfaceEngine])("the keys of a store on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  beforeAll(async () => {
    const flags = { "ban-grace-ms": "1", "ban-strikes-min": "3" };
    service = await startTestService(engine, flags);
    await service.addPets({ petId: 1n });
    const { id } = await issueOperator(service, "Carl");
    await service.store.keys.revokeKey(id, service.clock.now(), anEntry);
    opened = await openConsole(service, "/keys");
    ({ page } = opened);
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  });
  afterAll(async () => {
    expectNoComplaints(opened, service, [/status of (?:404|500)/]);
    await opened.context.close();
    await service.stop();
  });

  const use = async (key: string) => (await service.call("GET", "/pets/1", { key })).status;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dialog = () => page.getByRole("dialog");
  const secret = async () => (await page.locator("[data-secret]").textContent())!;
  const open = (path: string) => showView(page, path);
  const findKey = async (name: string) =>
    (await service.store.keys.listKeys()).find((key) => key.name === name)!;

  /** The page is the same on every engine, and axe takes a second. */
  async function expectAccessible(): Promise<void> {
    if (engine !== "sqlite") return;
    expect(await seriousFindings(page)).toEqual([]);
    expect(await fitsWidth(page)).toBe(true);
  }

  test("a key is issued, used, changed, rotated and revoked, and is shown only once", async () => {
    await button("New key").click();
    await page.locator("dialog [name=name]:focus").waitFor();
    await page.keyboard.insertText(hostileName);
    await page.getByRole("radio", { name: "Something else" }).check();
    await page.getByRole("radio", { name: "Pro" }).check();
    await expectAccessible();
    await page.getByRole("checkbox", { name: "Read orders" }).uncheck();
    await button("Create key").click();
    const first = await secret();
    expect(first).toStartWith("psk_live_");
    expect(await use(first)).toBe(200);
    await button("Copy the key").click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first);
    await page.keyboard.press("Escape");
    await dialog().getByText("It cannot be shown again.").waitFor();
    expect(await secret()).toBe(first);
    await closeSecret(opened);
    const row = page.locator("tr", { hasText: hostileName });
    await expectAccessible();
    expect(await row.locator("[data-label=Plan]").textContent()).toBe("Pro");
    const { id } = await findKey(hostileName);
    expect((await service.store.keys.listKeys()).find((key) => key.id === id)).toMatchObject({
      plan: "pro",
      scopes: scopes.filter((scope) => scope !== "orders:read"),
      expiresAt: null,
    });

    await row.getByRole("link").click();
    await page.locator(".chart svg").waitFor();
    await expectAccessible();
    await button("Change…").click();
    await page.getByLabel("Name").fill("Till");
    await page.getByRole("radio", { name: "Enterprise" }).check();
    await page.getByLabel("Requests a minute").fill("many");
    await button("Save").click();
    await page.getByText("Enter both limits").waitFor();
    await page.getByLabel("Requests a minute").fill("7");
    await page.getByLabel("Requests a day").fill("9,000");
    await page.getByLabel("Expires").selectOption("In 30 days");
    await button("Save").click();
    await page.getByRole("heading", { name: "Till", exact: true }).waitFor();
    const changed = await findKey("Till");
    expect(changed).toMatchObject({ plan: "enterprise", limits: { perMinute: 7, perDay: 9_000 } });
    expect(changed.expiresAt).not.toBeNull();
    await page.getByText("1 of 7").waitFor();

    await button("Rotate…").click();
    await page.getByLabel("How long the old key still works").selectOption("7 days");
    await button("Rotate").click();
    const second = await secret();
    expect(second).not.toBe(first);
    await dialog().getByText("The old key works until").waitFor();
    await closeSecret(opened);
    expect([await use(first), await use(second)]).toEqual([200, 200]);
    await page.getByText("New secret").waitFor();
    await page.getByText("Old secret").waitFor();

    await button("Revoke…").click();
    await dialog().getByText("Till stops working at once").waitFor();
    await button("Revoke").click();
    await page.locator(".badge", { hasText: "revoked" }).waitFor();
    expect([await use(first), await use(second)]).toEqual([401, 401]);
    const actions = page.locator(".audit-action");
    await actions.nth(3).waitFor();
    expect(await actions.allTextContents()).toEqual([
      "Revoked a key",
      "Rotated a key",
      "Changed a key",
      "Created a key",
    ]);
    expect(await page.title()).toBe("Keys – Pet Store Inventory");
  });

  test("a key that is banned shows until when, and works again after the ban is lifted", async () => {
    const { id, text } = await service.issueKey({
      name: "Greedy",
      limits: { perMinute: 2, perDay: 100 },
    });
    expect([await use(text), await use(text), await use(text)]).toEqual([200, 200, 429]);
    service.clock.advance(2);
    for (let strike = 0; strike < 3; strike += 1) expect(await use(text)).toBe(429);
    await open(`/keys/${id}`);
    await page.getByText("This key is banned", { exact: true }).waitFor();
    const until = page.getByRole("region", { name: "Ban" }).locator("time");
    const ends = Date.parse((await until.getAttribute("datetime"))!);
    expect(ends).toBeGreaterThan(service.clock.now());
    await page.getByText("2 of 2").waitFor();
    await button("Lift the ban").click();
    await page.getByText("This key is banned", { exact: true }).waitFor({ state: "detached" });
    service.clock.advance(60_000);
    expect(await use(text)).toBe(200);
    await page.locator(".audit-action", { hasText: "Lifted a ban" }).waitFor();
  });

  test("the list shows what a key has used without a click, and keeps it if the service is lost", async () => {
    const { id, text } = await service.issueKey({ name: "Busy" });
    await page.clock.install();
    await page.goto(consoleUrl(service, "/keys"));
    const used = page.locator(`[data-row=${id}] [data-label="This minute"]`);
    await used.getByText("0 of 1,000").waitFor();
    expect(await use(text)).toBe(200);
    await page.clock.fastForward(5_000);
    await used.getByText("1 of 1,000").waitFor();
    await page.route("**/admin/keys", (route) => route.fulfill({ status: 500, body: "{}" }));
    const failed = page.waitForResponse((response) => response.status() === 500);
    await page.clock.fastForward(5_000);
    await failed;
    expect(await used.getByText("1 of 1,000").isVisible()).toBe(true);
    await page.unroute("**/admin/keys");
  });

  // What follows is the same on every engine.
  if (engine !== "sqlite") return;

  test("keys are found by name, kind and state", async () => {
    await open("/keys");
    const names = () => page.locator(".key-name bdi").allTextContents();
    await page.locator(".key-name").first().waitFor();
    expect((await names()).sort()).toEqual(["Ada", "Busy", "Greedy"]);
    await button("All").click();
    await page.locator(".key-name", { hasText: "Till" }).waitFor();
    await button("Operator").click();
    expect((await names()).sort()).toEqual(["Ada", "Carl"]);
    await page.reload();
    await page.locator(".key-name").first().waitFor();
    expect((await names()).sort()).toEqual(["Ada", "Carl"]);
    await page.getByLabel("Search by name or id").fill("nobody");
    await page.getByText("No key matches").waitFor();
    await open("/keys/key_unknown");
    await page.getByText(/^There is no key/).waitFor();
  });

  test("the own key is revoked only after typing its name, and that signs out", async () => {
    const own = await openConsole(service, "/keys?kind=operator", { operator: "Grace" });
    const mine = own.page;
    await mine.locator(".key-name a", { hasText: "Grace" }).click();
    await mine.getByRole("button", { name: "Revoke…" }).click();
    const confirm = mine.getByRole("button", { name: "Revoke", exact: true });
    await confirm.click();
    await mine.getByText("This is not the name.").waitFor();
    expect((await findKey("Grace")).revokedAt).toBeNull();
    await mine.getByLabel("Type Grace to confirm").fill("Grace");
    await confirm.click();
    await mine.getByText("Your session has ended.").waitFor();
    expect((await findKey("Grace")).revokedAt).not.toBeNull();
    expectNoComplaints(own, service);
    await own.context.close();
  });

  test("the last owner is warned before the own key expires or is revoked", async () => {
    const alone = await startTestService(engine);
    const own = await openConsole(alone, "/keys?kind=operator", { operator: "Solo" });
    const mine = own.page;
    const named = (name: string) => mine.getByRole("button", { name, exact: true });
    const warning = mine.getByText("No other owner's key is valid for as long");
    const find = async () => (await alone.store.keys.listKeys())[0]!;
    await mine.locator(".key-name a", { hasText: "Solo" }).click();
    await named("Change…").click();
    await mine.locator("#key-expiry").selectOption("30");
    await named("Save").click();
    await warning.waitFor();
    expect((await find()).expiresAt).toBeNull();
    await named("Cancel").click();
    await named("Revoke…").click();
    await mine.getByLabel("Type Solo to confirm").fill("Solo");
    await named("Revoke").click();
    await warning.waitFor();
    expect((await find()).revokedAt).toBeNull();
    await named("Revoke").click();
    await mine.getByText("Your session has ended.").waitFor();
    expect((await find()).revokedAt).not.toBeNull();
    expectNoComplaints(own, alone, [/status of 409/]);
    await own.context.close();
    await alone.stop();
  });
});
