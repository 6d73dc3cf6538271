import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

/**
 * The serious and critical findings of axe on a page, without the rules in `disabled`. It runs in the
 * page itself and describes violations only: the other mode opens a second page and moves the description
 * of every element there, which takes four times as long and finds more only in frames of other origins.
 */
export async function seriousFindings(
  page: Page,
  disabled: readonly string[] = [],
): Promise<readonly string[]> {
  const rules = Object.fromEntries(disabled.map((rule) => [rule, { enabled: false }]));
  // axe stays in a page until the next page load. To send it again would take longer than to run it.
  const isLoaded = await page.evaluate(() => "axe" in window);
  const axe = new AxeBuilder(isLoaded ? { page, axeSource: ";" } : { page }).setLegacyMode();
  const { violations } = await axe.options({ resultTypes: ["violations"], rules }).analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
