/** Starts what the page does in the browser. Without it, the page is complete but sends no requests. */
import { prepareKeyPanel } from "./api-key.ts";
import { prepareSearch } from "./search.ts";
import { prepareNavigation } from "./sections.ts";
import { prepareThemeButton } from "./theme.ts";
import { prepareForm, prepareLanguages } from "./trial.ts";

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-operation]")) {
  prepareForm(form);
}
prepareLanguages();
prepareKeyPanel();
prepareThemeButton();
prepareSearch();
prepareNavigation();
