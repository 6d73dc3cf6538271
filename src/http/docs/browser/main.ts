/** Starts what the page does in the browser. Without it, the page is complete but sends no requests. */

import { prepareKeyPanel } from "./api-key.ts";
import { get } from "./element.ts";
import { prepareSearch } from "./search.ts";
import { prepareNavigation } from "./sections.ts";
import { prepareForm, prepareLanguages } from "./trial.ts";

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-operation]")) {
  prepareForm(form);
}
prepareLanguages();
prepareKeyPanel();
prepareThemeButton();
prepareSearch();
prepareNavigation();

/** Switches between light and dark, also for the console. Until it is used, the system decides. */
function prepareThemeButton(): void {
  const button = get<HTMLButtonElement>("#theme-button");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const update = () => {
    const label = `Use the ${isDark() ? "light" : "dark"} theme`;
    button.setAttribute("aria-label", label);
    button.title = label;
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    update();
    try {
      window.localStorage.setItem("petstore-theme", root.dataset.theme);
    } catch {
      // A browser without storage forgets the choice. Nothing depends on it.
    }
  });
  system.addEventListener("change", update);
  button.hidden = false;
  update();
}
