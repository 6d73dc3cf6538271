import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { connection, reconnectNow } from "../client/live.ts";
import { Button } from "../parts/button.tsx";
import { dayAndTime } from "../texts/times.ts";

/** Shows whether changes arrive as they happen. */
export function ConnectionBadge() {
  const state = connection.value;
  if (state.kind === "live") {
    return (
      <span class="badge success" data-connection="live" title="Changes appear as they happen.">
        <span class="dot" />
        Live
      </span>
    );
  }
  if (state.kind === "lost") {
    return (
      <span class="badge danger" data-connection="lost">
        <span class="dot" />
        Reconnecting
      </span>
    );
  }
  return (
    <span class="badge" data-connection={state.kind}>
      <span class="dot" />
      {state.kind === "paused" ? "Paused" : "Connecting"}
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
    <div class="notice warning connection-notice" role="status">
      <span>
        The connection is lost. This page shows the state at {dayAndTime(state.since)}. It
        reconnects by itself and then shows what has changed.
      </span>
      <Button isSmall onClick={reconnectNow}>
        Try now
      </Button>
    </div>
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
