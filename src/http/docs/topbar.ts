import { type Html, html } from "../pages/html.ts";

const icon = (path: string) =>
  html`<svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${path}"/></svg>`;

const menuIcon = icon("M2.5 4h11M2.5 8h11M2.5 12h11");
const searchIcon = icon("M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10m3.6-1.4L14 14");
const themeIcon = icon("M13.5 9.6A5.9 5.9 0 0 1 6.4 2.5a5.9 5.9 0 1 0 7.1 7.1");
const keyIcon = icon(
  "M10.5 8.5a3 3 0 1 0-2.9-2.2L2 11.9V14h2.1l.9-.9v-1.4h1.4l2.1-2.1a3 3 0 0 0 2 .3",
);

/** Renders the bar at the top. What needs JavaScript is hidden until a script shows it. */
export function topbar(title: string): Html {
  return html`<header class="topbar">
      <button type="button" class="button quiet icon-only menu-button" popovertarget="contents" aria-label="Contents">${menuIcon}</button>
      <a class="brand" href="#content" aria-label="${title}"><img src="/docs/icon.svg" alt="" width="24" height="24"><span>${title}</span></a>
      <span class="spacer"></span>
      <button type="button" class="button search-button" data-search-button aria-label="Search" aria-keyshortcuts="/" hidden>${searchIcon}<span>Search</span><kbd class="kbd">/</kbd></button>
      <button type="button" class="button" id="key-button" popovertarget="key-panel" hidden>${keyIcon}<span>Enter API key</span></button>
      <button type="button" class="button quiet icon-only" id="theme-button" hidden>${themeIcon}</button>
      ${keyPanel()}
    </header>`;
}

function keyPanel(): Html {
  return html`<div class="popup key-panel" id="key-panel" popover role="dialog" aria-label="API key">
        <form id="key-form" class="stack" novalidate>
          <div class="field">
            <label for="key">API key</label>
            <input class="input mono" id="key" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="psk_…" aria-describedby="key-note">
            <p class="hint" id="key-note">The page keeps your key in memory and sends it only to this service. Reload or close the page to remove it.</p>
          </div>
          <label class="row"><input type="checkbox" class="checkbox" id="include-key"> Include my key in copied samples</label>
          <div class="spread">
            <button type="reset" class="button quiet">Clear</button>
            <button type="submit" class="button primary">Done</button>
          </div>
        </form>
      </div>`;
}

export function searchDialog(): Html {
  return html`<dialog class="dialog search" id="search" aria-label="Search">
    <form method="dialog">
      <input class="input" id="search-input" type="text" enterkeyhint="search" role="combobox" aria-label="Search" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" aria-describedby="search-summary" placeholder="Search the documentation" autocomplete="off" spellcheck="false">
    </form>
    <ul id="search-results" role="listbox" aria-label="Results" hidden></ul>
    <p class="hint" id="search-summary" role="status"></p>
  </dialog>`;
}
