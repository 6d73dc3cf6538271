import { useEffect, useRef } from "preact/hooks";
import { ApiError, ShownError } from "../client/api.ts";
import { signIn } from "../client/session.ts";
import { announce } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { FieldError, useSubmission } from "../parts/fields.tsx";
import { EnvironmentBadge, ThemeButton } from "./topbar.tsx";

/** Asks for an operator key. The view that was open stays in the address and is shown afterwards. */
export function SignIn({ note }: { readonly note: string | undefined }) {
  const field = useRef<HTMLInputElement>(null);
  const { error, isBusy, run } = useSubmission();
  useEffect(() => {
    document.title = "Sign in – Pet Store Inventory";
    field.current?.focus();
  }, []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const input = field.current!;
    const key = input.value.trim();
    // The page keeps the key no longer than the request takes.
    input.value = "";
    await run(async () => {
      checkKey(key);
      await signIn(key).catch((failure) => {
        throw explain(failure);
      });
      announce("You have signed in.");
    });
    if (error.value !== "") input.focus();
  }

  return (
    <main class="stack gate">
      <form class="card stack" onSubmit={submit} novalidate aria-busy={isBusy.value}>
        <div class="spread">
          <span class="brand">
            <img src="/docs/icon.svg" alt="" width="24" height="24" />
            Pet Store Inventory
          </span>
          <EnvironmentBadge />
        </div>
        <h1 class="view-title">Sign in to the console</h1>
        {note && <p class="notice">{note}</p>}
        <div class="field">
          <label for="operator-key">Operator key</label>
          <input
            ref={field}
            id="operator-key"
            class="input mono"
            type="password"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="pso_…"
            aria-describedby="operator-key-error operator-key-hint"
            aria-invalid={error.value !== ""}
          />
          <FieldError id="operator-key-error">{error.value}</FieldError>
          <p class="hint" id="operator-key-hint">
            The key is sent once and is not stored in this browser. The session ends after 12 hours.
          </p>
        </div>
        <Button kind="primary" isDisabled={isBusy.value}>
          {isBusy.value ? "Signing in…" : "Sign in"}
        </Button>
        <KeyHelp />
      </form>
      <div class="row">
        <a href="/docs">API reference</a>
        <ThemeButton />
      </div>
    </main>
  );
}

function KeyHelp() {
  return (
    <details class="small muted">
      <summary>I have no operator key</summary>
      <p>
        An owner creates one in the view Keys, or somebody with access to the server:{" "}
        <code>petstore keys create --operator --name NAME</code>. The first start of{" "}
        <code>npm start</code> prints one.
      </p>
    </details>
  );
}

/** Finds mistakes that need no request. */
function checkKey(key: string): void {
  if (key === "") throw new ShownError("Enter your operator key.");
  if (/^psk_/.test(key)) {
    throw new ShownError(
      "This is an API key. The console needs an operator key, which starts with pso_.",
    );
  }
  // Other characters cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ShownError("This is not an operator key. It starts with pso_.");
  }
}

function explain(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.status !== 401) return failure;
  return new ShownError(
    "This key is not valid here. Check that you copied all of it, and that it has not expired.",
  );
}
