// The views of the console. To add one:
//
// 1. Write `src/console/NAME/view.tsx` with a default export, a component that takes ViewProps
//    (parts/view.tsx). Give it one <h1 class="view-title"> and what it shows. Optionally export `shortcuts`,
//    which the keyboard help lists.
// 2. Add a line to `views` below, with the least role that can use it, and an icon with its name to `icons`
//    in parts/icon.tsx.
// 3. Styles: add NAME/NAME.css and an @import in console.css. Use the tokens and classes of src/kit. A
//    style={{…}} is only for values that are computed. The browser refuses style="…" and innerHTML.
// 4. Add the view to the list in scripts/screenshots.ts, and a test to test/console/.
//
// What a view uses: `request` (client/api.ts), `listen` for live changes (client/live.ts), `navigate`
// and `hrefOf` (page/router.ts), `showSuccess`, `showError` and `announce` (page/messages.ts), and
// <FormDialog>, <Table>, <Button>, <Card>, <Empty>, <Time> and others in parts/. `useLoaded` and
// `usePolled` load data and show that it is being loaded, or why that failed; <Pages> loads a long list.
// A request that fails with 401 leads to the sign-in by itself. `may` (client/session.ts) says whether
// the role of the person allows something: hide buttons that would only lead to a refusal.

import type { OperatorRole } from "../client/types.ts";
import type { IconName } from "../parts/icon.tsx";
import type { View } from "../parts/view.tsx";

const view = (name: IconName, title: string, load: View["load"], role: OperatorRole = "viewer") =>
  ({ path: `/${name}`, title, icon: name, load, role }) satisfies View;

/** In the order of the navigation. The first one is shown at /console. */
export const views: readonly View[] = [
  view("overview", "Overview", () => import("../overview/view.tsx")),
  view("stock", "Stock", () => import("../stock/view.tsx")),
  view("activity", "Activity", () => import("../activity/view.tsx")),
  view("history", "History", () => import("../history/view.tsx")),
  view("import", "Import", () => import("../import/view.tsx")),
  view("orders", "Orders", () => import("../orders/view.tsx")),
  view("keys", "Keys", () => import("../keys/view.tsx"), "owner"),
  view("webhooks", "Webhooks", () => import("../webhooks/view.tsx"), "owner"),
  view("backups", "Backups", () => import("../backups/view.tsx"), "owner"),
  view("audit", "Audit log", () => import("../audit/view.tsx")),
];

export function findView(path: string): View | undefined {
  if (path === "/") return views[0];
  return views.find((view) => path === view.path || path.startsWith(`${view.path}/`));
}

/** Addresses within a view that need more than the view itself. */
export const rolesOfPages: Readonly<Record<string, OperatorRole>> = {
  "/stock/count": "clerk",
  "/stock/delivery": "clerk",
};
