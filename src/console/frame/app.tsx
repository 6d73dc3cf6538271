import { useEffect } from "preact/hooks";
import { startLive } from "../client/live.ts";
import { startPetNames } from "../client/pet-names.ts";
import { startRenames } from "../client/renames.ts";
import { restoreSession, session } from "../client/session.ts";
import { announcement, dismissToast, type Toast, toasts } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Frame } from "./frame.tsx";
import { SignIn } from "./sign-in.tsx";

/** The whole page: the sign-in, or the frame with a view. */
export function App() {
  const state = session.value;
  const isSignedIn = state.kind === "in";
  useEffect(() => {
    if (!isSignedIn) return undefined;
    const stops = [startLive(), startRenames(), startPetNames()];
    return () => {
      for (const stop of stops.reverse()) stop();
    };
  }, [isSignedIn]);
  return (
    <>
      {state.kind === "in" && <Frame session={state.session} />}
      {state.kind === "out" && <SignIn note={state.note} />}
      {state.kind === "unknown" && <p class="visually-hidden">Loading</p>}
      {state.kind === "failed" && <Failed message={state.message} />}
      <ToastList />
      <p class="visually-hidden" role="status" id="announcement">
        {announcement.value}
      </p>
    </>
  );
}

function Failed({ message }: { readonly message: string }) {
  return (
    <main class="stack gate">
      <div class="card stack">
        <h1 class="dialog-title">The console cannot start</h1>
        <p>{message}</p>
        <Button kind="primary" onClick={() => restoreSession()}>
          Try again
        </Button>
      </div>
    </main>
  );
}

function ToastList() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { id, kind, text, action } = toast;
  return (
    <div class={`toast ${kind}`} role={kind === "danger" ? "alert" : undefined}>
      <Icon name={kind === "danger" ? "warning" : "check"} />
      <span>{text}</span>
      {action && (
        <Button
          isSmall
          onClick={() => {
            dismissToast(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button kind="quiet" isSmall icon="close" label="Close" onClick={() => dismissToast(id)} />
    </div>
  );
}
