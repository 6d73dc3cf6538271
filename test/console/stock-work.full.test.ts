import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { petFields } from "../../src/domain/catalogue/pet-fields.ts";
import { anEntry } from "../support/audit.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
} from "../support/console.ts";
import { findFreePort } from "../support/ports.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { changeQuantity, lastLedgerRows, rowOf, shows } from "../support/stock-view.ts";

afterAll(closeBrowser);

describe.each([surfaceEngine])("work with the stock on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  /** A second window, of another person. */
  let handheld: ConsolePage;
  let till: string;
  const lastRows = (count: number) => lastLedgerRows(service, till, count);

  beforeAll(async () => {
    // After a restart, the page finds the service at the same port.
    service = await startTestService(engine, { port: String(await findFreePort()) });
    till = (await service.issueKey({ name: "Till 2" })).text;
    await service.addPets(
      { petId: 11n, name: "Rex", quantity: 10 },
      { petId: 12n, name: "Luna", quantity: 10 },
      { petId: 13n, name: "Polly", quantity: 10 },
      { petId: 14n, name: "A name that is much longer than a phone is wide", quantity: 10 },
    );
    opened = await openConsole(service, "/stock");
    page = opened.page;
    const options = { ...phone, colorScheme: "dark", operator: "Grace" } as const;
    handheld = await openConsole(service, "/stock", options);
    await rowOf(page, 11).waitFor();
  });
  afterAll(async () => {
    for (const one of [opened, handheld]) {
      expectNoComplaints(one, service, [/status of 503/, /ERR_/]);
      await one.context.close();
    }
    await service.stop();
  });

  test("a pet is added, changed and removed, and comes and goes in another window", async () => {
    await page.getByText("Add pet").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Id", { exact: true }).fill("9223372036854775806");
    await dialog.getByLabel("Quantity").fill("4");
    await dialog.getByRole("button", { name: "Add pet" }).click();
    await dialog.getByText("Enter a name.").waitFor();
    await dialog.getByLabel("Name").fill("Zoé");
    await dialog.getByRole("button", { name: "Add pet" }).click();
    await shows(page, "9223372036854775806", "Zoé");
    await rowOf(handheld.page, "9223372036854775806").waitFor();
    await page.getByLabel("Details of Zoé").click();
    await dialog.getByLabel("Name").fill("Zoë");
    // What somebody else changes while the dialog is open stays.
    const { catalogue } = service.store;
    const elsewhere = { category: "birds", tags: ["blue, yellow"] };
    const pet = (await catalogue.findPet(9223372036854775806n))!;
    await catalogue.changePet(pet.petId, pet, { ...pet, ...elsewhere }, anEntry);
    await dialog.getByRole("button", { name: "Save" }).click();
    await shows(page, "9223372036854775806", "Zoë");
    expect(await catalogue.findPet(pet.petId)).toMatchObject(elsewhere);
    // The form has every other detail, too.
    await page.getByLabel("Details of Zoë").click();
    const others = petFields.filter(({ name }) => name !== "name");
    for (const { name, label, example } of others) {
      const separator = name === "tags" ? ", " : "\n";
      const text = Array.isArray(example) ? example.join(separator) : String(example);
      await dialog.getByLabel(label, { exact: true }).fill(text);
    }
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await catalogue.findPet(pet.petId)).toMatchObject(
      Object.fromEntries(others.map(({ name, example }) => [name, example])),
    );
    await page.fill("[type=search]", "zoe");
    await page.locator("[data-shown='1']").waitFor();
    await page.getByLabel("Details of Zoë").click();
    await dialog.getByText("Remove…").click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Nothing matches").waitFor();
    await page.getByText("Show all entries").click();
    expect(await lastRows(1)).toMatchObject([{ after: null, cause: "console", keyName: "Ada" }]);
    await rowOf(handheld.page, "9223372036854775806").waitFor({ state: "detached" });
  });

  test("on a phone in the dark, a row is edited in a sheet, and nothing is wider than the screen", async () => {
    const { page: small } = handheld;
    await rowOf(small, 14).waitFor();
    expect(await fitsWidth(small)).toBe(true);
    await rowOf(small, 14).locator(".cell-name").tap();
    const sheet = small.getByRole("dialog");
    await sheet.getByLabel("Quantity").fill("6");
    await changeQuantity(service, till, 14, 4, "sold six");
    await sheet.getByText("sold six").waitFor();
    if (engine === "sqlite") expect(await seriousFindings(small)).toEqual([]);
    expect(await sheet.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await sheet.getByText("Save mine").tap();
    await sheet.waitFor({ state: "detached" });
    await shows(small, 14, "6");
    expect(await lastRows(1)).toMatchObject([{ after: { quantity: 6 }, keyName: "Grace" }]);
  });

  test("after a restart of the service, the page catches up with what it missed, names included", async () => {
    const { catalogue } = service.store;
    const pet = (await catalogue.findPet(11n))!;
    const entry = { ...anEntry, action: "pet.changed" as const, target: "11" };
    await catalogue.changePet(11n, pet, { ...pet, name: "Nemo" }, entry);
    await service.restart();
    await changeQuantity(service, till, 12, 7);
    await shows(page, 12, "7available");
    await shows(page, 11, "Nemo");
    await page.locator("[data-connection=live]").waitFor();
  });
});
