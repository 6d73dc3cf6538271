import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Connection, connection, reconnectNow } from "../client/live.ts";
import { signOut } from "../client/session.ts";
import type { Session } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import { currentTheme, switchTheme } from "../page/theme.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { OldNotice } from "../parts/loaded.tsx";
import { dayAndTime } from "../texts/times.ts";

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

const connectionBadges: Readonly<
  Record<Connection["kind"], readonly [tone: string, text: string]>
> = {
  connecting: ["", "Connecting"],
  live: ["success", "Live"],
  lost: ["danger", "Reconnecting"],
  paused: ["", "Paused"],
};

/** Shows whether changes arrive as they happen. */
function ConnectionBadge() {
  const { kind } = connection.value;
  const [tone, text] = connectionBadges[kind];
  const title = kind === "live" ? "Changes appear as they happen." : undefined;
  return (
    <span class={`badge ${tone}`} data-connection={kind} title={title}>
      <span class="dot" />
      {text}
    </span>
  );
}

const patienceMs = 3_000;

/** Says that the page shows the past, since when, and what happens next. */
export function ConnectionNotice() {
  const state = connection.value;
  const isLost = state.kind === "lost";
  const isLong = useSignal(false);
  useEffect(() => {
    // A restart of the service takes less than this. The badge shows it, and the page does not jump.
    const timer = isLost ? setTimeout(() => (isLong.value = true), patienceMs) : undefined;
    return () => {
      clearTimeout(timer);
      isLong.value = false;
    };
  }, [isLost, isLong]);
  if (!isLost || !isLong.value) return null;
  return (
    <OldNotice retry={reconnectNow}>
      The connection is lost. This page shows the state at {dayAndTime(state.since)}. It reconnects
      by itself and then shows what has changed.
    </OldNotice>
  );
}

/** Shows which environment this is. Production looks different from staging. */
export function EnvironmentBadge() {
  const name = document.getElementById("console")?.dataset.environment;
  const isProduction = name === "production";
  return (
    <span class={`badge ${isProduction ? "accent" : "warning"}`} data-environment-badge>
      <span class="dot" />
      {isProduction ? "Production" : "Staging"}
    </span>
  );
}
