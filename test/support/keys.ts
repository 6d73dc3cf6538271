// Presses keys at times that the test chooses, however long the page takes for them.
import type { CDPSession, Page } from "playwright-core";

/** Only Chromium takes the times of keys. */
const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** The time of the last key of each page. It may be in the future. */
const lastPressedAt = new WeakMap<Page, number>();

const isChromium = (page: Page) => page.context().browser()!.browserType().name() === "chromium";

async function press(
  page: Page,
  text: string,
  msEach: number,
  end: "Enter" | "Tab",
): Promise<void> {
  if (!isChromium(page)) {
    await page.keyboard.type(text, { delay: msEach });
    return page.keyboard.press(end);
  }
  const opened = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, opened);
  const keyboard = await opened;
  const keys = [...text, end];
  // A scan ends now. Typing begins now and ends later: had it begun before the page was loaded, its keys would
  // all have the time 0, like those of a scan.
  const startedAt = Math.max(Date.now() - keys.length, (lastPressedAt.get(page) ?? 0) + msEach);
  lastPressedAt.set(page, startedAt + text.length * msEach);
  const ends = {
    Enter: { text: "\r", windowsVirtualKeyCode: 13 },
    Tab: { windowsVirtualKeyCode: 9 },
  };
  for (const [index, key] of keys.entries()) {
    const timestamp = (startedAt + index * msEach) / 1_000;
    const typed = index === text.length ? ends[end] : { text: key };
    await keyboard.send("Input.dispatchKeyEvent", { type: "keyDown", key, timestamp, ...typed });
    await keyboard.send("Input.dispatchKeyEvent", { type: "keyUp", key, timestamp });
  }
}

/** Types as a scanner does, into whatever has the focus. */
export const scanInto = (page: Page, text: string, end: "Enter" | "Tab" = "Enter") =>
  press(page, text, 1, end);

/** Types as a person does. */
export const typeInto = (page: Page, text: string) => press(page, text, 100, "Enter");
