import { signOut } from "../client/session.ts";
import type { Session } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import { currentTheme, switchTheme } from "../page/theme.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ConnectionBadge, EnvironmentBadge } from "./badges.tsx";

interface Props {
  readonly session: Session;
  readonly openHelp: () => void;
}

export function Topbar({ session, openHelp }: Props) {
  const { id, name, role } = session.operator;
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
      <span class="operator muted small ellipsis" title={`${id}, ${role}`}>
        <bdi>{name}</bdi>
        {role !== "owner" && ` (${role})`}
      </span>
      <Button
        kind="quiet"
        class="help-button"
        icon="help"
        label="Keyboard help"
        title="Keyboard help (?)"
        onClick={openHelp}
      />
      <ThemeButton />
      <Button
        kind="quiet"
        icon="sign-out"
        label="Sign out"
        title="Sign out"
        onClick={() => signOut().catch(showError)}
      />
    </header>
  );
}

export function ThemeButton() {
  const label = `Use the ${currentTheme() === "dark" ? "light" : "dark"} theme`;
  return <Button kind="quiet" icon="theme" label={label} title={label} onClick={switchTheme} />;
}
