import { signOut } from "../client/session.ts";
import type { Session } from "../client/types.ts";
import { showError } from "../page/toasts.ts";
import { Icon } from "../parts/icon.tsx";
import { ConnectionBadge } from "./connection-badge.tsx";
import { EnvironmentBadge } from "./environment-badge.tsx";
import { ThemeButton } from "./theme-button.tsx";

interface Props {
  readonly session: Session;
  readonly openHelp: () => void;
}

export function Topbar({ session, openHelp }: Props) {
  return (
    <header class="topbar">
      <button
        type="button"
        class="button quiet icon-only menu-button"
        popovertarget="navigation"
        aria-label="Menu"
      >
        <Icon name="menu" />
      </button>
      <a class="brand" href="/console" aria-label="Pet Store Inventory">
        <img src="/docs/icon.svg" alt="" width="24" height="24" />
        <span class="brand-name">Pet Store Inventory</span>
      </a>
      <EnvironmentBadge />
      <span class="spacer" />
      <ConnectionBadge />
      <span class="operator muted small" title={session.operator.id}>
        <bdi>{session.operator.name}</bdi>
      </span>
      <button
        type="button"
        class="button quiet icon-only help-button"
        aria-label="Keyboard help"
        title="Keyboard help (?)"
        onClick={openHelp}
      >
        <Icon name="help" />
      </button>
      <ThemeButton />
      <button
        type="button"
        class="button quiet icon-only"
        aria-label="Sign out"
        title="Sign out"
        onClick={() => void signOut().catch(showError)}
      >
        <Icon name="sign-out" />
      </button>
    </header>
  );
}
