import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  openConsole,
  phone,
  showView,
  tooWide,
} from "../support/console.ts";
import { scanInto, typeInto } from "../support/keys.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { changeQuantity, lastLedgerRows, quantityOf, rowOf, shows } from "../support/stock-view.ts";

afterAll(closeBrowser);

/** A number as on a package. The ids of these pets are as long as barcodes. */
const codes = ["4006381333931", "4006381333948", "9007199254740993"];

describe.each([surfaceEngine])("a delivery on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  let till: string;
  const lastRows = (count: number) => lastLedgerRows(service, till, count);

  beforeAll(async () => {
    service = await startTestService(engine);
    till = (await service.issueKey({ name: "Till 2" })).text;
    await service.addPets(
      ...codes.map((code) => ({ petId: BigInt(code), name: `Fish ${code}`, quantity: 1 })),
      ...Array.from({ length: 9 }, (_, index) => ({
        petId: BigInt(index + 1),
        name: `Bird ${"ABCDEFGHI"[index]}`,
        quantity: 10,
      })),
      { petId: 20n, name: "Twin", quantity: 0 },
      { petId: 21n, name: "Twin", quantity: 0 },
    );
    opened = await openConsole(service, "/stock");
    page = opened.page;
    await rowOf(page, 1).waitFor();
  });
  afterAll(async () => {
    expectNoComplaints(opened, service, [/status of (409|429)/, /ERR_/]);
    await opened.context.close();
    await service.stop();
  });

  const scan = (text: string) => scanInto(page, text);
  /** 7 is also the id of a pet, and only a scanner is fast enough to mean that one. */
  const type = (text: string) => typeInto(page, text);
  const amountOf = (petId: string) => page.locator(`[id='amount-${petId}']`);
  const has = (petId: string, amount: string) =>
    page.waitForFunction(
      ([id, value]) =>
        (document.getElementById(`amount-${id}`) as HTMLInputElement | null)?.value === value,
      [petId, amount],
    );
  const finder = () => page.locator(".delivery-finder input:focus");
  const total = (text: string) => page.locator(".bulk-bar").getByText(text).waitFor();
  const paste = (text: string) =>
    page.evaluate((lines) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", lines);
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
      document.querySelector(".delivery-finder input")!.dispatchEvent(event);
    }, text);

  test("twelve kinds by scan, search and paste are recorded once, also if the response is lost", async () => {
    await page.getByText("Receive delivery").click();
    await finder().waitFor();
    // One scan adds one. A number after it sets the amount.
    await scan(codes[0]!);
    await scan(codes[0]!);
    await has(codes[0]!, "2");
    await scan(codes[1]!);
    await scan("24");
    await finder().waitFor();
    await has(codes[1]!, "24");
    await scan("00009007199254740993");
    await has(codes[2]!, "1");
    // What no pet has stops the scans.
    await scan("4006381333999");
    await page.locator(".question").getByText("4006381333999").waitFor();
    await scan(codes[0]!);
    await page.keyboard.press("Escape");
    await finder().waitFor();
    await has(codes[0]!, "2");
    await has(codes[2]!, "1");
    // A search.
    await type("bird a");
    await has("1", "1");
    await type("7");
    await has("1", "7");
    // Several pets match: one of them is chosen, unless it was a scan. A line can be removed.
    await scan("bird");
    await page.locator(".dialog:focus").waitFor();
    await page.keyboard.press("Escape");
    await finder().waitFor();
    await type("bird");
    await page.locator(".delivery-finder button:focus").waitFor();
    for (const name of ["Bird C", "Bird B"]) {
      await page.locator(".delivery-finder input").fill("bird");
      await page.getByRole("button", { name }).click();
      await finder().waitFor();
    }
    await has("2", "1");
    await page.getByRole("button", { name: "Remove Bird C" }).click();
    await finder().waitFor();
    await total("5 kinds, 35 pieces");
    // Rows of a sheet. What cannot be added is listed.
    await paste("1\t1\n".repeat(1_001));
    await page.getByText("Paste at most 1,000 lines").waitFor();
    await total("5 kinds, 35 pieces");
    await paste(
      "Artikel\tMenge\n3\t3,0\r\n4;4\n0005,5\nbird f\t6\n7\t7\n8\t8\n9\t9\nTwin\t1\n99\t1\n1\t1,5\n1\t1.000",
    );
    await total("12 kinds, 77 pieces");
    const problems = page.getByLabel("Lines that were not added");
    expect((await problems.locator("pre").textContent())?.split("\n").slice(1)).toEqual([
      "Twin\t1",
      "99\t1",
      "1\t1,5",
      "1\t1.000",
    ]);
    if (engine === "sqlite") expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await total("12 kinds, 77 pieces");
    await problems.getByText("Twin").waitFor();
    await problems.getByRole("button").click();
    await finder().waitFor();
    // A scan into the wrong field records nothing.
    await page.getByLabel("Reference").fill("delivery note ");
    await scan("4711");
    await finder().waitFor();
    // The service records it, and the page does not learn of it.
    await page.route("**/admin/changes", async (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      await route.fetch();
      return route.abort();
    });
    // Some amounts are the ids of their pets.
    const record = () => page.getByRole("button", { name: "Record delivery" }).click();
    await record();
    await page.getByText("Bird C: is the quantity 3? 6 others may be wrong, too.").waitFor();
    await scan(codes[0]!);
    await page.keyboard.press("Escape");
    await total("12 kinds, 77 pieces");
    await record();
    await page.getByRole("button", { name: "Record 3" }).click();
    await page.getByText("nothing is recorded twice").waitFor();
    await page.reload();
    await page.getByText("nothing is recorded twice").waitFor();
    for (const name of ["Loss", "Remove Bird A"]) {
      expect(await page.getByRole("button", { name }).isDisabled()).toBe(true);
    }
    expect(await amountOf("1").isDisabled()).toBe(true);
    // Nothing is added to what was sent: neither a scan, nor pasted rows, nor what is selected.
    const stopped = page.locator(".dialog:focus").getByText("Send the delivery first.");
    await scan(codes[0]!);
    await stopped.waitFor();
    await page.keyboard.press("Escape");
    await finder().waitFor();
    await paste("2\t2");
    await stopped.waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Back to the stock").click();
    await rowOf(page, 20).locator(".cell-select").click();
    await page.getByText("Receive delivery").click();
    await stopped.waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Back to the stock").click();
    await page.getByText("1 selected").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Receive delivery").click();
    await total("12 kinds, 77 pieces");
    // An answer that does not say whether it was recorded.
    await page.unroute("**/admin/changes");
    const busy = { status: 429, json: { code: "rate_limit_exceeded", message: "Too many." } };
    await page.route("**/admin/changes", (route) => route.fulfill(busy), { times: 1 });
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Too many. It may not be recorded yet.").waitFor();
    const before = await lastRows(12);
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByText("Delivery: delivery note 4711. 12 kinds.").waitFor();
    expect(await lastRows(12)).toEqual(before);
    expect(before.map(({ petId, after }) => [String(petId), after?.quantity])).toContainEqual([
      "1",
      17,
    ]);
    expect(new Set(before.map(({ reason }) => reason))).toEqual(
      new Set(["Delivery: delivery note 4711"]),
    );
    expect(new Set(before.map(({ requestId }) => requestId)).size).toBe(1);
    await page.getByRole("button", { name: "Show in Activity" }).click();
    await page.waitForURL(`**/activity?request=${before[0]!.requestId}`);
  });

  test("an amount is for the pet that was scanned last, as long as its line is there", async () => {
    await showView(page, "/stock/delivery");
    const [first, second] = codes as [string, string];
    for (const end of [`Remove Fish ${first}`, "Discard", "Record delivery"]) {
      await finder().waitFor();
      await scan(second);
      await scan(first);
      await has(first, "1");
      // Five digits are no amount if they come from a scanner.
      await scan("12345");
      await page.locator(".dialog:focus").getByText("12345").waitFor();
      await page.keyboard.press("Escape");
      await has(first, "1");
      await page.getByRole("button", { name: end }).click();
      await amountOf(first).waitFor({ state: "detached" });
      await finder().waitFor();
      await paste(`${first}\t5`);
      await has(first, "5");
      await type("1");
      await has("1", "1");
      await has(first, "5");
      await page.getByRole("button", { name: "Discard" }).click();
      await amountOf(first).waitFor({ state: "detached" });
    }
  });

  test("what was sent too long ago is not sent again, whenever it was tried since", async () => {
    let sent = 0;
    // Answers that do not say whether it was recorded.
    await page.route("**/admin/changes", (route) => {
      if (route.request().method() !== "POST") return route.fallback();
      const json = { code: "rate_limit_exceeded", message: `Answer ${++sent}.` };
      return route.fulfill({ status: 429, json });
    });
    const answered = (count: number) => page.getByText(`Answer ${count}. It may not`).waitFor();
    const sendAgain = () => page.getByRole("button", { name: "Send again" }).click();
    const startedAt = Date.now();
    const after = (hours: number) => page.clock.setFixedTime(startedAt + hours * 3_600_000);
    await showView(page, "/stock/delivery");
    await finder().waitFor();
    await paste("1\t5");
    await has("1", "5");
    await page.getByRole("button", { name: "Record delivery" }).click();
    await answered(1);
    await after(11);
    await sendAgain();
    await answered(2);
    await after(13);
    await sendAgain();
    await page.getByText("This was sent too long ago to be sent again.").waitFor();
    expect(sent).toBe(2);
    await page.unroute("**/admin/changes");
    await page.clock.setSystemTime(new Date());
    await page.getByRole("button", { name: "Discard" }).click();
    await amountOf("1").waitFor({ state: "detached" });
  });

  test("a draft that cannot be read is left out, and the stock keeps its filter", async () => {
    await showView(page, "/stock?q=bird");
    await page.getByText("Receive delivery").click();
    await finder().waitFor();
    await page.evaluate(() => {
      const name = Object.keys(localStorage).find((one) => one.startsWith("petstore-delivery-"));
      localStorage.setItem(name!, "{");
    });
    await page.reload();
    await finder().waitFor();
    await page.getByText("Back to the stock").click();
    await page.waitForURL("**/stock?q=bird");
    await page.locator("[data-shown='9']").waitFor();
  });

  test("+2 and −2 in a cell are added to what is there then, each time", async () => {
    await showView(page, "/stock");
    const enter = async (text: string, result: string) => {
      await quantityOf(page, 9).focus();
      await page.keyboard.type(text);
      // Somebody else sells one meanwhile, which is no conflict.
      await page.locator(".is-editing .cell-quantity input:focus").waitFor();
      if (text === "+2") await changeQuantity(service, till, 9, 18);
      await page
        .locator(".is-editing")
        .getByText(`= ${result.split(" → ")[1]}`)
        .waitFor();
      await page.keyboard.press("Enter");
      await page.getByText(`Bird I: ${result}`).waitFor();
      await shows(page, 9, result.split(" → ")[1]!);
    };
    await enter("+2", "18 → 20");
    await enter("+3", "20 → 23");
    await enter("+3", "23 → 26");
    await enter("-4", "26 → 22");
    await quantityOf(page, 9).click();
    await page.keyboard.type("−2\n");
    await page.getByText("Bird I: 22 → 20").waitFor();
    await quantityOf(page, 9).click();
    await page.keyboard.type("12\n");
    await page.getByText("Bird I: 20 → 12").waitFor();
  });

  test("on a phone in the dark, nothing is wider than the screen", async () => {
    const small = await openConsole(service, "/stock/delivery", { ...phone, colorScheme: "dark" });
    await small.page.locator(".delivery-finder input").fill("bird a");
    await small.page.keyboard.press("Enter");
    await small.page.locator("#amount-1").waitFor();
    expect(await tooWide(small.page)).toEqual([]);
    if (engine === "sqlite") expect(await seriousFindings(small.page)).toEqual([]);
    await small.page.getByText("Back to the stock").click();
    await quantityOf(small.page, 20).click();
    await small.page.getByLabel("Quantity").fill("+2");
    await small.page.getByText("= 2").waitFor();
    await small.context.close();
  });
});
