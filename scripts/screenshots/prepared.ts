// Makes a view show something worth seeing.
import type { Page } from "playwright-core";

type Prepare = (page: Page) => Promise<void>;

export function openDialog(button: string): Prepare {
  return async (page) => {
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("dialog").waitFor();
  };
}

export async function countSome(page: Page): Promise<void> {
  for (const [petId, count] of [
    [1, 5],
    [2, 1],
    [3, 2],
  ]) {
    await page.fill("#count-id", String(petId));
    await page.keyboard.press("Enter");
    await page.locator("#count-quantity").fill(String(count));
    await page.keyboard.press("Enter");
  }
}

/** Scans some pets of a delivery. */
export async function receiveSome(page: Page): Promise<void> {
  for (const [petId, amount] of [
    [1, 12],
    [5, 40],
    [3, 6],
    [7, 8],
    [9, 24],
  ]) {
    await page.fill(".delivery-finder input", String(petId));
    await page.keyboard.press("Enter");
    await page.locator(`#amount-${petId}`).fill(String(amount));
  }
  await page.getByLabel("Reference").fill("delivery note 4711");
  await page.fill(".delivery-finder input", "a");
}

/** Selects some rows and fills in a change of all of them. */
export async function selectSome(page: Page): Promise<void> {
  for (const petId of [2, 3, 4, 6]) {
    await page.locator(`[data-pet='${petId}'] .cell-select`).click();
  }
  const bar = page.locator(".bulk-bar");
  await bar.getByLabel("What to change").selectOption("delta");
  await bar.getByLabel("Quantity", { exact: true }).fill("5");
  await bar.getByLabel("Reason").fill("delivery");
}

/** Starts an edit, and changes the same entry elsewhere. */
export async function editConflict(
  page: Page,
  changeElsewhere: (petId: number) => Promise<void>,
): Promise<void> {
  await page.locator("[data-pet='5'] .cell-quantity").click();
  await page.locator("#edit-quantity, .is-editing .cell-quantity input").fill("30");
  await changeElsewhere(5);
  await page.locator(".conflict").waitFor();
}

/** Chooses a file with these lines, and waits until it is checked. */
export function checkFile(...lines: readonly string[]): Prepare {
  return async (page) => {
    const buffer = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await page.setInputFiles("#import-file", {
      name: "delivery.csv",
      mimeType: "text/csv",
      buffer,
    });
    await page.getByText("Check again").waitFor();
  };
}

/** Reads a value of the chart. */
export async function readChart(page: Page): Promise<void> {
  await page.getByRole("slider").focus();
  await page.keyboard.press("ArrowLeft");
}

/** Starts to undo a change that has changed since then. */
export async function undoOld(page: Page): Promise<void> {
  await page.locator("[data-row]", { hasText: "order 3" }).getByText("Undo").click();
  await page.locator("dialog button[type=submit]").click();
  await page.getByText("has changed since then").waitFor();
}

/** Shows until when the stock lasts. */
export async function showLasting(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Lasts until" }).click();
  await page.locator("button[aria-pressed=true]", { hasText: "Lasts until" }).waitFor();
}

/** Shows why requests of a key got errors. */
export async function showRequests(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Find a request" });
  await card.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await page.locator("tbody", { hasText: "insufficient_stock" }).waitFor();
}
