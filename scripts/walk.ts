// A day in the shop, in a real browser: a delivery of twelve kinds, a German workbook, a count of thirty
// shelves while a till sells, and the undo of a wrong import. Types as fast as a person, checks the stock
// after each story, prints how long it took, and takes the pictures for docs/console.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { closeBrowser } from "../test/support/browser.ts";
import { createTestClock } from "../test/support/clock.ts";
import { openConsole } from "../test/support/console.ts";
import { program } from "../test/support/program.ts";
import { startTestService } from "../test/support/service.ts";
import { workbook } from "../test/support/workbooks.ts";
import { smallPng } from "./screenshots/small-png.ts";

/** A person who types with two fingers. */
const keyMs = 120;
const folder = new URL("../docs/screenshots/", import.meta.url).pathname;
const kinds = "Neon tetra,Guppy,Betta,Molly,Platy,Corydoras,Angelfish,Discus,Goldfish,Koi".split(
  ",",
);
const colours = ["red", "blue", "gold"];

/** What is on the shelves. The service has to have the same after every story. */
const shelves = new Map<number, number>();
const pets = colours.flatMap((colour, at) =>
  kinds.map((kind, index) => ({ petId: at * 10 + index + 1, name: `${kind}, ${colour}` })),
);
for (const { petId } of pets) shelves.set(petId, 20 + ((petId * 7) % 30));

const barcodeOf = (petId: number) => `40063813${String(petId).padStart(5, "0")}`;

const clock = createTestClock(Date.now());
const service = await startTestService(
  "sqlite",
  {},
  {},
  { program, clock: { ...clock, now: Date.now } },
);
const { text: till } = await service.issueKey({ name: "Till 1" });
await service.addPets(
  ...pets.map(({ petId, name }) => ({
    ...{ petId: BigInt(petId), name, category: "Fish" },
    ...{ barcode: barcodeOf(petId), quantity: shelves.get(petId)! },
  })),
);
const { page, context } = await openConsole(service, "/stock", { operator: "Ada" });
mkdirSync(folder, { recursive: true });
await story("a delivery of twelve kinds", receive);
await story("a German workbook", importWorkbook);
await story("a count of thirty shelves", countShelves);
await story("the undo of a wrong import", undoImport);
await context.close();
await closeBrowser();
await service.stop();
process.exit(0);

async function story(name: string, walk: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await walk();
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
  const { json } = await service.call("GET", "/inventory", { key: till });
  for (const { petId, quantity } of json as unknown as { petId: number; quantity: number }[]) {
    const expected = shelves.get(petId);
    if (quantity !== expected) throw new Error(`pet ${petId}: ${quantity}, not ${expected}`);
  }
  console.log(`${name}: ${seconds} s, ${shelves.size} entries as on the shelves`);
}

async function picture(name: string): Promise<void> {
  const image = await page.screenshot({ animations: "disabled" });
  writeFileSync(`${folder}${name}.png`, smallPng(image));
}

async function type(text: string): Promise<void> {
  await page.keyboard.type(text, { delay: keyMs });
  await page.keyboard.press("Enter");
}

/** A scanner types a whole barcode at once. */
async function scan(petId: number): Promise<void> {
  await page.keyboard.insertText(barcodeOf(petId));
  await page.keyboard.press("Enter");
}

/** The console asks about quantities that differ much. */
async function confirm(): Promise<void> {
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: /^Record/ })
    .click();
}

async function receive(): Promise<void> {
  await page.getByText("Receive delivery").click();
  await page.locator(".delivery-finder input:focus").waitFor();
  for (let petId = 1; petId <= 12; petId++) {
    await scan(petId);
    await page.locator(`#amount-${petId}`).waitFor();
    await type(String(petId + 5));
    shelves.set(petId, shelves.get(petId)! + petId + 5);
  }
  await page.getByLabel("Reference").click();
  await page.keyboard.type("delivery note 4711", { delay: keyMs });
  await picture("walk-delivery");
  await page.getByRole("button", { name: "Record delivery" }).click();
  await page.getByText("Delivery: delivery note 4711. 12 kinds.").first().waitFor();
}

async function importWorkbook(): Promise<void> {
  const changed = [3, 17, 25];
  const rows = changed.map((petId) => [petId, `Nr. ${petId}`, petId * 100, "4,95"]);
  const buffer = workbook({ Bestand: [["Artikel", "Bezeichnung", "Bestand", "Preis"], ...rows] });
  await page.getByRole("link", { name: "Import" }).click();
  await page.setInputFiles("#import-file", { name: "Bestand.xlsx", mimeType: "", buffer });
  await page.getByRole("region", { name: "Columns of the file" }).waitFor();
  for (const [header, field] of [
    ["Artikel", "petId"],
    ["Bezeichnung", "ignore"],
    ["Bestand", "quantity"],
    ["Preis", "ignore"],
  ] as const) {
    await page.getByLabel(header, { exact: true }).selectOption(field);
  }
  await picture("walk-columns");
  await page.getByRole("button", { name: "Check with these columns" }).click();
  await page.getByRole("button", { name: "Import 3 pets" }).click();
  await confirm();
  await page.getByRole("region", { name: "Result" }).waitFor();
  for (const petId of changed) shelves.set(petId, petId * 100);
}

/** What a shop loses in a year: its shelves have less than the store says, two of them much less. */
function loseSome(): void {
  for (const { petId } of pets.filter(({ petId }) => petId % 4 === 0)) {
    const lost = petId % 3 === 0 ? 22 : 1 + (petId % 3);
    shelves.set(petId, shelves.get(petId)! - lost);
  }
}

async function sell(petId: number): Promise<void> {
  const body = JSON.stringify({ changes: [{ petId, delta: -1 }] });
  const { status } = await service.call("POST", "/changes", { key: till, body });
  if (status !== 200) throw new Error(`the till got ${status}`);
  shelves.set(petId, shelves.get(petId)! - 1);
}

async function countShelves(): Promise<void> {
  loseSome();
  /** Nobody takes from the shelf that is being counted. */
  let counted = 0;
  let isOpen = true;
  const selling = (async () => {
    for (let at = 0; isOpen; at++) {
      const { petId } = pets[(at * 7) % pets.length]!;
      if (petId !== counted) await sell(petId);
      await Bun.sleep(100);
    }
  })();
  await page.getByRole("link", { name: "Stock" }).first().click();
  await page.getByText("Count stock").click();
  for (const { petId } of pets) {
    counted = petId;
    await page.locator("#count-id:focus").waitFor();
    await Bun.sleep(200);
    await scan(petId);
    await page.locator("#count-quantity:focus").waitFor();
    const quantity = String(shelves.get(petId));
    await type(quantity);
    // The console asks about a count that differs much.
    await page.locator("#count-id:focus, [role=alertdialog]").waitFor();
    const record = page.getByRole("button", { name: `Record ${quantity}` });
    if (await record.isVisible()) await record.click();
  }
  counted = 0;
  await page.getByRole("button", { name: "Review and apply…" }).click();
  await page.getByRole("dialog").waitFor();
  await picture("walk-count");
  await page.getByRole("button", { name: /^Apply/ }).click();
  await page.getByText("The count is in the ledger").first().waitFor();
  isOpen = false;
  await selling;
}

async function undoImport(): Promise<void> {
  const lines = pets.map(({ petId }) => `${petId},9${petId}\n`);
  const buffer = Buffer.from(`petId,quantity\n${lines.join("")}`);
  await page.getByRole("link", { name: "Import" }).click();
  await page.getByText("Import another file").click();
  await page.setInputFiles("#import-file", { name: "old.csv", mimeType: "text/csv", buffer });
  await page.getByRole("button", { name: "Import 30 pets" }).click();
  await confirm();
  await page.getByRole("region", { name: "Result" }).waitFor();
  for (const petId of [4, 8]) await sell(petId);
  await page.getByRole("link", { name: "Activity" }).click();
  await page.getByText("All that belongs to it").first().click();
  await page.waitForURL(/request=/);
  await page.getByText("Undo what this filter shows").click();
  await page.getByText("keep what happened since").click();
  await picture("walk-undo");
  await page.getByRole("button", { name: "Undo 30 pets" }).click();
  await page.getByText("30 pets undone").first().waitFor();
}
