/** Marks the current section in the navigation while the page is scrolled. */
import { get } from "./element.ts";

/** A section is current once its top has passed this distance from the top of the window. */
const offsetPixels = 120;

export function prepareNavigation(): void {
  const sidebar = get<HTMLElement>("#contents");
  const links = [...sidebar.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')];
  const sections = links.flatMap((link) => {
    const target = document.getElementById(link.hash.slice(1));
    return target ? [{ link, target }] : [];
  });
  let current: HTMLAnchorElement | undefined;

  function mark(link: HTMLAnchorElement | undefined): void {
    if (link === current) return;
    current?.removeAttribute("aria-current");
    link?.setAttribute("aria-current", "location");
    current = link;
    if (link) keepVisible(sidebar, link);
  }

  function update(): void {
    const root = document.documentElement;
    const isAtEnd = window.innerHeight + window.scrollY >= root.scrollHeight - 2;
    const passed = sections.filter(
      ({ target }) => target.getBoundingClientRect().top <= offsetPixels,
    );
    mark((isAtEnd && window.scrollY > 0 ? sections : passed).at(-1)?.link);
  }

  // A browser sends this once for each frame that it draws.
  document.addEventListener("scroll", update);
  window.addEventListener("resize", update);
  // On a phone, the navigation covers the page.
  sidebar.addEventListener("click", (event) => {
    const isLink = event.target instanceof Element && event.target.closest("a");
    if (isLink && sidebar.matches(":popover-open")) sidebar.hidePopover();
  });
  update();
}

/** Scrolls the navigation only, and only if the link is outside its visible part. */
function keepVisible(sidebar: HTMLElement, link: HTMLElement): void {
  const outer = sidebar.getBoundingClientRect();
  const inner = link.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    sidebar.scrollTop += inner.top - outer.top - outer.height / 2;
  }
}
