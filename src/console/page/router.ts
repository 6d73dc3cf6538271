import { signal } from "@preact/signals";

/** The part of the address after /console, and the query. */
export interface Place {
  /** For example "/stock", or "/" for the first view. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const base = "/console";

function read(): Place {
  const { pathname, search } = window.location;
  const path = pathname.slice(base.length).replace(/\/+$/, "");
  return { path: path === "" ? "/" : path, query: new URLSearchParams(search) };
}

export const place = signal<Place>(read());

/** Opens another view, or the same with another query. `replace` adds no step to the history. */
export function navigate(path: string, { replace = false } = {}): void {
  const url = path.startsWith(base) ? path : base + path;
  if (replace) window.history.replaceState(null, "", url);
  else window.history.pushState(null, "", url);
  place.value = read();
}

/** The address of a view, for a link. Links inside the console do not reload the page. */
export function hrefOf(path: string): string {
  return base + path;
}

export function startRouter(): void {
  window.addEventListener("popstate", () => (place.value = read()));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
    if (link?.target !== "" || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    const isInside = url.pathname === base || url.pathname.startsWith(`${base}/`);
    if (url.origin !== window.location.origin || !isInside || url.hash !== "") return;
    event.preventDefault();
    navigate(url.pathname + url.search);
    window.scrollTo(0, 0);
  });
}
