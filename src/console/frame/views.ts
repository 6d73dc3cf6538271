// The views of the console. To add one:
//
// 1. Write `src/console/NAME/view.tsx` with a default export, a component that takes ViewProps
//    (parts/view.ts). Give it one <h1 class="view-title"> and what it shows. Optionally export `shortcuts`,
//    which the keyboard help lists.
// 2. Add a line to `views` below, and an icon to `icons` in parts/icon.tsx.
// 3. Styles: add NAME/NAME.css and an @import in console.css. Use the tokens and classes of src/kit. A
//    style={{…}} is only for values that are computed. The browser refuses style="…" and innerHTML.
// 4. Add the view to the list in scripts/screenshots.ts, and a test to test/console/.
//
// What a view uses: `request`, `requestPage` (client/api.ts), `listen` for live changes
// (client/live.ts), `navigate` and `hrefOf` (page/router.ts), `showSuccess` and `showError`
// (page/toasts.ts), `announce` (page/announcements.ts), and <Dialog>, <Time>, <Icon> and others in
// parts/. A request that fails with 401 leads to the sign-in by itself. `useLoaded` (parts/loaded.tsx)
// loads data and shows that it is being loaded, or why that failed.
import type { View } from "../parts/view.ts";

/** In the order of the navigation. The first one is shown at /console. */
export const views: readonly View[] = [
  {
    path: "/overview",
    title: "Overview",
    icon: "overview",
    load: () => import("../overview/view.tsx"),
  },
  { path: "/stock", title: "Stock", icon: "stock", load: () => import("../stock/view.tsx") },
  {
    path: "/activity",
    title: "Activity",
    icon: "activity",
    load: () => import("../activity/view.tsx"),
  },
  {
    path: "/history",
    title: "History",
    icon: "history",
    load: () => import("../history/view.tsx"),
  },
  { path: "/import", title: "Import", icon: "import", load: () => import("../import/view.tsx") },
  { path: "/orders", title: "Orders", icon: "orders", load: () => import("../orders/view.tsx") },
  { path: "/keys", title: "Keys", icon: "keys", load: () => import("../keys/view.tsx") },
  {
    path: "/webhooks",
    title: "Webhooks",
    icon: "webhooks",
    load: () => import("../webhooks/view.tsx"),
  },
  {
    path: "/backups",
    title: "Backups",
    icon: "backups",
    load: () => import("../backups/view.tsx"),
  },
  { path: "/audit", title: "Audit log", icon: "audit", load: () => import("../audit/view.tsx") },
];

export function findView(path: string): View | undefined {
  if (path === "/") return views[0];
  return views.find((view) => path === view.path || path.startsWith(`${view.path}/`));
}
