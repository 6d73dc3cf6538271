import { element, get } from "./element.ts";

/** The search dialog: a text field and a list of results, used with the keyboard or a pointer. */

const dialog = get<HTMLDialogElement>("#search");
const input = get<HTMLInputElement>("#search-input");
const list = get<HTMLElement>("#search-results");
const summary = get<HTMLElement>("#search-summary");

/** The best results are shown. A longer list only shows that the query is too short. */
const resultsMax = 20;

/** Made when the dialog first opens. */
let topics: readonly Topic[] | undefined;
let active = -1;

export function prepareSearch(): void {
  for (const button of document.querySelectorAll<HTMLElement>("[data-search-button]")) {
    button.hidden = false;
    button.addEventListener("click", open);
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    const isField =
      event.target instanceof Element && event.target.closest("input, textarea, select");
    if (isField || dialog.open) return;
    event.preventDefault();
    open();
  });
  input.addEventListener("input", update);
  input.addEventListener("keydown", onKey);
  // A click outside the content of a dialog has the dialog itself as its target.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  get("form", dialog).addEventListener("submit", (event) => {
    event.preventDefault();
    (list.children[Math.max(active, 0)]?.firstElementChild as HTMLElement | undefined)?.click();
  });
}

function open(): void {
  topics ??= readTopics();
  const menu = get<HTMLElement>("#contents");
  if (menu.matches(":popover-open")) menu.hidePopover();
  dialog.showModal();
  input.select();
  update();
}

/** Reads what can be found from the page itself, so that the index is never out of date. */
function readTopics(): Topic[] {
  const elements = [...document.querySelectorAll<HTMLElement>("[data-kind]")];
  return elements.map((one) => ({
    id: one.id,
    kind: one.dataset.kind ?? "",
    title: get("[data-title]", one).textContent?.trim() ?? "",
    keywords: one.dataset.keywords ?? "",
    text: [...one.querySelectorAll("p, dd, td")].map((part) => part.textContent).join(" "),
  }));
}

function update(): void {
  const query = input.value.trim();
  const found = findTopics(topics ?? [], query);
  list.replaceChildren(...found.slice(0, resultsMax).map(resultItem));
  list.hidden = found.length === 0;
  input.setAttribute("aria-expanded", String(found.length > 0));
  select(found.length > 0 ? 0 : -1);
  summary.textContent = summaryOf(query, found.length);
}

function summaryOf(query: string, count: number): string {
  if (query === "") return "Search operations, schemas, headers and error codes.";
  if (count === 0) return `No results for “${query}”.`;
  if (count > resultsMax) return `The best ${resultsMax} of ${count} results`;
  return count === 1 ? "1 result" : `${count} results`;
}

function resultItem({ id, kind, title, keywords }: Topic, index: number): HTMLElement {
  const item = element("li");
  item.id = `search-result-${index}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  const link = element("a") as HTMLAnchorElement;
  link.href = `#${id}`;
  link.tabIndex = -1;
  const name = element("span", "search-title", title);
  if (kind === "Operation")
    name.append(" ", element("span", "search-path", keywords.split(" ", 2).join(" ")));
  link.append(name, element("span", "badge", kind));
  link.addEventListener("click", () => dialog.close());
  item.append(link);
  item.addEventListener("pointermove", () => select(index));
  return item;
}

function select(index: number): void {
  list.children[active]?.setAttribute("aria-selected", "false");
  active = index;
  const item = list.children[index];
  item?.setAttribute("aria-selected", "true");
  item?.scrollIntoView({ block: "nearest" });
  if (item) input.setAttribute("aria-activedescendant", item.id);
  else input.removeAttribute("aria-activedescendant");
}

function onKey(event: KeyboardEvent): void {
  const count = list.childElementCount;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || count === 0) return;
  event.preventDefault();
  select((active + step + count) % count);
}

/** Finds the parts of the page that match a query. */

interface Topic {
  /** Where the topic is: the id of its element. */
  readonly id: string;
  /** "Operation", "Webhook", "Schema", "Header", "Error code" or "Section". */
  readonly kind: string;
  readonly title: string;
  /** Other names: the path of an operation, the fields of a schema. */
  readonly keywords: string;
  readonly text: string;
}

/** Returns the topics that contain every word of the query, the best first. */
function findTopics(topics: readonly Topic[], query: string): Topic[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = topics.flatMap((topic) => {
    const scores = words.map((word) => scoreOf(topic, word));
    const total = scores.reduce((sum, score) => sum + score, 0);
    return scores.includes(0) ? [] : [{ topic, total }];
  });
  // The order of the page decides between equals: sort is stable.
  scored.sort((one, other) => other.total - one.total);
  return scored.map(({ topic }) => topic);
}

function scoreOf(topic: Topic, word: string): number {
  const title = topic.title.toLowerCase();
  if (title === word) return 100;
  if (title.startsWith(word)) return 60;
  if (startsAWord(title, word)) return 40;
  const keywords = topic.keywords.toLowerCase();
  if (keywords.split(" ").includes(word)) return 30;
  if (title.includes(word)) return 20;
  if (startsAWord(keywords, word)) return 15;
  if (keywords.includes(word)) return 8;
  return startsAWord(topic.text.toLowerCase(), word) ? 2 : 0;
}

/** A word starts after anything that is no letter and no digit, as in `rate_limit` and `/pets`. */
function startsAWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[a-z0-9]/.test(text[at - 1]!)) return true;
  }
  return false;
}
