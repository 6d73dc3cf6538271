// Takes pictures of every view of the console: light and dark, on a desktop and on a phone. They show the
// sample catalogue and the same made-up changes each time, and go to dist/screenshots. Names as
// arguments take only those views. The pictures that README.md shows are also copied to docs/screenshots.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Cookie, Page } from "playwright-core";
import { sampleOrders, samplePets } from "../src/cli/sample.ts";
import { commandImport } from "../src/domain/catalogue/import-preview.ts";
import { issueOperator } from "../test/support/admin/operators.ts";
import { browser, closeBrowser } from "../test/support/browser.ts";
import { createTestClock } from "../test/support/clock.ts";
import { consoleUrl, enterOperatorKey } from "../test/support/console.ts";
import { program } from "../test/support/program.ts";
import { startTestService, type TestService } from "../test/support/service.ts";
import {
  type IssuedKeys,
  issueKeys,
  type Operations,
  operate,
  quietWebhooks,
} from "./screenshots/operations.ts";
import {
  checkFile,
  countSome,
  editConflict,
  openDialog,
  readChart,
  receiveSome,
  selectSome,
  showLasting,
  showRequests,
  undoOld,
} from "./screenshots/prepared.ts";
import { smallPng } from "./screenshots/small-png.ts";

interface Shot {
  /** The name of the files. */
  readonly name: string;
  readonly path: string;
  /** Makes the view show something worth seeing. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** Every view. */
const shots = (operations: Operations): readonly Shot[] => [
  { name: "overview", path: "/overview" },
  { name: "stock", path: "/stock" },
  {
    name: "stock-edit",
    path: "/stock",
    async prepare(page) {
      await page.locator("[data-pet='3'] .cell-quantity").click();
    },
  },
  { name: "stock-bulk", path: "/stock", prepare: selectSome },
  { name: "stock-lasting", path: "/stock", prepare: showLasting },
  { name: "stock-delivery", path: "/stock/delivery", prepare: receiveSome },
  { name: "stock-count", path: "/stock/count", prepare: countSome },
  { name: "activity", path: "/activity" },
  { name: "activity-undo", path: "/activity?pet=5", prepare: undoOld },
  { name: "history", path: "/history" },
  { name: "history-pet", path: "/history/5", prepare: readChart },
  { name: "history-moment", path: "/history/moment?at=12" },
  { name: "import", path: "/import" },
  {
    name: "import-problems",
    path: "/import",
    prepare: checkFile("petId,name,quantity", "1,Rex,seven", "x,Bella,2", "12,Milo,-4"),
  },
  {
    name: "import-differences",
    path: "/import",
    prepare: checkFile("petId,name,quantity", "1,Rex,9", "3,Whiskers II,5", "12,Milo,4"),
  },
  {
    name: "import-columns",
    path: "/import",
    prepare: checkFile(
      "Artikel;Bezeichnung;Bestand;Preis",
      "1;Rex;9;349,00",
      "3;Whiskers;1.234;89,95",
    ),
  },
  { name: "orders", path: "/orders" },
  { name: "keys", path: "/keys" },
  { name: "key", path: `/keys/${operations.rotatedKeyId}` },
  { name: "key-requests", path: `/keys/${operations.tillKeyId}`, prepare: showRequests },
  { name: "key-banned", path: `/keys/${operations.bannedKeyId}` },
  { name: "key-new", path: "/keys", prepare: openDialog("New key") },
  { name: "webhooks", path: "/webhooks" },
  { name: "webhook", path: `/webhooks/${operations.webhookId}` },
  { name: "backups", path: "/backups" },
  { name: "audit", path: "/audit" },
];

/** Pictures that change something. They come last, so that the others are all of one moment. */
const changingShots: readonly Shot[] = [
  { name: "stock-conflict", path: "/stock", prepare: (page) => editConflict(page, sellOne) },
];

/** A Monday morning. */
const openedAt = Date.UTC(2026, 10, 16, 8, 0);
const folder = new URL("../dist/screenshots/", import.meta.url).pathname;
const shownFolder = new URL("../docs/screenshots/", import.meta.url).pathname;
const backupFolder = createBackupFolder();
const sizes = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

const service = await startService();
const operator = await issueOperator(service, "Ada");
const keys = await issueKeys(service, operator.text);
await work(service, keys);
const operations = await operate(service, operator.text, keys, backupFolder);
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
let cookies: Cookie[] = [];
for (const list of [shots(operations), changingShots]) {
  for (const size of ["desktop", "phone"] as const) {
    for (const theme of ["light", "dark"] as const) await takeAll(list, size, theme);
  }
}
await closeBrowser();
await service.stop();
process.exit(0);

/** The pictures show its name. It is a usual place if there is nothing, and otherwise a relative one. */
function createBackupFolder(): string {
  let created = "/var/backups/petstore";
  try {
    mkdirSync(created);
  } catch {
    created = mkdtempSync("backups-");
  }
  process.on("exit", () => rmSync(created, { recursive: true, force: true }));
  return created;
}

async function startService(): Promise<TestService> {
  const flags = {
    "backup-every": "6h",
    "low-stock-at": "1",
    "backup-folder": backupFolder,
    // The clock stands still, so all pages are loaded within one minute.
    "address-per-minute": "10000",
  };
  const bounds = { webhooks: quietWebhooks };
  const clock = createTestClock(openedAt);
  const started = await startTestService("sqlite", flags, bounds, { clock, program });
  const origin = commandImport("sample catalogue");
  await started.store.catalogue.importPets(once(samplePets), origin);
  await started.store.catalogue.importOrders(once(sampleOrders), origin);
  return started;
}

/** Some changes by two tills and a shop, over the morning. */
async function work({ call, clock }: TestService, { till, shop }: IssuedKeys): Promise<void> {
  const changes = [
    [3, -1, till.key, "sold"],
    [5, -6, shop.key, "order 3"],
    [9, -2, till.key, "sold"],
    [1, 2, shop.key, "returned"],
    [5, 20, till.key, "delivery"],
    [7, -1, shop.key, ""],
  ] as const;
  for (const [petId, delta, key, reason] of changes) {
    clock.advance(7 * 60_000);
    const change = { petId, delta, ...(reason === "" ? {} : { reason }) };
    const body = JSON.stringify({ changes: [change] });
    await call("POST", "/changes", { key, body });
  }
}

/** A till sells a pet. The quantity is the same in every picture. */
async function sellOne(petId: number): Promise<void> {
  const body = JSON.stringify({ changes: [{ petId, quantity: 55, reason: "sold" }] });
  await service.call("POST", "/changes", { key: keys.till.key, body });
}

async function takeAll(
  list: readonly Shot[],
  size: keyof typeof sizes,
  theme: "light" | "dark",
): Promise<void> {
  const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
  const all = list.filter(({ name }) => isWanted(name));
  const isFirst = list !== changingShots && isWanted("sign-in");
  if (all.length === 0 && !isFirst) return;
  const chromium = await browser();
  const context = await chromium.newContext({
    ...sizes[size],
    colorScheme: theme,
    reducedMotion: "reduce",
    timezoneId: "UTC",
    locale: "en-GB",
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(service.clock.now());
  await page.goto(consoleUrl(service));
  const take = async (name: string) => {
    const picture = await page.screenshot({ animations: "disabled" });
    const file = `${name}-${size}-${theme}.png`;
    writeFileSync(folder + file, smallPng(picture));
    if (existsSync(shownFolder + file)) copyFileSync(folder + file, shownFolder + file);
  };
  await page.locator("#operator-key").waitFor();
  if (isFirst) await take("sign-in");
  await signIn(page);
  for (const { name, path, prepare } of all) {
    await page.goto(consoleUrl(service, path));
    await page.locator("[data-connection=live]").waitFor();
    await page.waitForFunction(isComplete);
    await prepare?.(page);
    await take(name);
  }
  await context.close();
}

/** Runs in the page. */
function isComplete(): boolean {
  const names = [...document.querySelectorAll(".pet-name-text")];
  const isNamed = names.every(({ textContent }) => textContent !== "Pet");
  return isNamed && document.querySelector(".loading") === null;
}

/** Signs in once. The other browsers get the same session, so that the audit log has one. */
async function signIn(page: Page): Promise<void> {
  if (cookies.length > 0) {
    await page.context().addCookies(cookies);
    return;
  }
  await enterOperatorKey(page, operator.text);
  await page.locator("[data-connection=live]").waitFor();
  cookies = await page.context().cookies();
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
