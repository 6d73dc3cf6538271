import { afterAll, expect, test } from "bun:test";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { expectNoComplaints, fitsWidth, openConsole, phone } from "../support/console.ts";
import { startTestService, surfaceEngine } from "../support/service.ts";
import { until } from "../support/until.ts";

afterAll(closeBrowser);

test.each([surfaceEngine])(
  "three clicks lead from a failing till to its cause, on another instance too (%s)",
  async (engine) => {
    const service = await startTestService(engine);
    // Two instances of a store on PostgreSQL. One process serves a store on SQLite.
    const flags = { database: service.databaseUrl };
    const other = engine === "postgres" ? await startTestService(engine, flags) : service;
    await service.addPets({ petId: 1n, quantity: 5 });
    const till = await service.issueKey({ name: "Till 3" });
    const send = (quantity: string, key = till.text) =>
      other.call("PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });
    const refused = (await send('"five"')).headers.get("x-request-id")!;
    await other.call("GET", "/pets/it's", { key: till.text });
    const accepted = (await send("7")).headers.get("x-request-id")!;
    await send("7", "psk_live_mistyped");
    const isStored = async () => (await service.store.requests.listRequests({}, 3)).length === 3;
    await until(isStored, 5_000, "the requests in the store");

    const opened = await openConsole(service);
    const { page } = opened;
    const row = (text: string) => page.locator("tbody tr", { hasText: text });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());

    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByRole("link", { name: "Till 3" }).click();
    await page.getByLabel("Error code").selectOption("invalid_request");
    await row("Field 'quantity' must be an integer").first().waitFor();
    expect(await row(refused).textContent()).toContain("PATCH /v1/inventory/1");
    await page.getByLabel("Error code").selectOption("gone");
    await page.getByText("None with this code.").waitFor();
    await page.getByLabel("Error code").selectOption("");
    const copy = row("/v1/pets/it").getByRole("button", { name: "Copy as curl" });
    // As on a page without HTTPS. Then the command is shown.
    await copy.click();
    await page.getByText("copy it yourself: curl -g -X GET").waitFor();
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await copy.click();
    await until(async () => (await copied()).startsWith("curl"), 5_000, "the command");
    const origin = new URL(service.baseUrl).origin;
    expect(await copied()).toBe(
      `curl -g -X GET '${origin}/v1/pets/it'\\''s' -H 'Authorization: Bearer <API_KEY>'`,
    );
    if (engine === "sqlite") {
      expect(await seriousFindings(page)).toEqual([]);
      for (const size of [phone.viewport!, { width: 1280, height: 800 }]) {
        await page.setViewportSize(size);
        expect(await fitsWidth(page)).toBe(true);
      }
    }

    const find = async (id: string) => {
      await page.getByLabel("Request id").fill(id);
      await page.getByRole("button", { name: "What became of it?" }).click();
    };
    const link = page.getByRole("link", { name: "Show its changes in Activity" });
    await find(accepted);
    await link.waitFor();
    // What was found before is not shown beside an error.
    await find("nonsense");
    await page.getByText("must be the X-Request-Id").waitFor();
    expect(await link.count()).toBe(0);
    await find(accepted);
    await link.click();
    await page.locator("[data-row='2']").waitFor();
    expect(await page.locator("[data-row]").count()).toBe(1);

    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.getByRole("link", { name: "Without a key…" }).click();
    await row("its checksum does not match").waitFor();
    expectNoComplaints(opened, service, [/status of 400/]);
    await opened.context.close();
    if (other !== service) await other.stop();
    await service.stop();
  },
);
