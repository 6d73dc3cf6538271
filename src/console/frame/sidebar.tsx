import { useRef } from "preact/hooks";
import { may } from "../client/session.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { facts } from "../parts/service.ts";
import type { View } from "../parts/view.tsx";
import { formatCount } from "../texts/formats.ts";
import { views } from "./views.ts";

/** The navigation. On a phone it is a menu that closes when a view is chosen. */
export function Sidebar({ current }: { readonly current: View | undefined }) {
  const menu = useRef<HTMLElement>(null);
  const shown = views.filter(({ role }) => may(role));
  const low = facts.value?.lowEntries ?? 0;
  return (
    <nav class="sidebar" id="navigation" popover="auto" aria-label="Console" ref={menu}>
      <ul class="nav-list">
        {shown.map((view) => (
          <li key={view.path}>
            <a
              href={hrefOf(view.path)}
              aria-current={view === current ? "page" : undefined}
              onClick={() => menu.current?.hidePopover()}
            >
              <Icon name={view.icon} />
              {view.icon === "import" && !may("clerk") ? "Export" : view.title}
              {view.path === "/stock" && low > 0 && (
                <span class="badge warning">{formatCount(low)} low</span>
              )}
            </a>
          </li>
        ))}
      </ul>
      <ul class="nav-list nav-foot">
        <li>
          <a href="/docs">
            <Icon name="help" />
            API reference
          </a>
        </li>
      </ul>
    </nav>
  );
}
