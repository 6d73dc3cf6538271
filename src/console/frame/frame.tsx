import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect, useRef } from "preact/hooks";
import { listen } from "../client/live.ts";
import { may } from "../client/session.ts";
import type { OperatorRole, Service, Session } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import { place } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Empty, useLoaded, usePolled } from "../parts/loaded.tsx";
import { usePageKey } from "../parts/page-key.ts";
import { OpenQuestion } from "../parts/question.tsx";
import { startScanner } from "../parts/scanner.ts";
import { service } from "../parts/service.ts";
import type { Shortcut, View, ViewProps } from "../parts/view.tsx";
import { Sidebar } from "./sidebar.tsx";
import { ConnectionNotice, Topbar } from "./topbar.tsx";
import { findView, rolesOfPages } from "./views.ts";

/** The bar, the navigation and the current view. */
export function Frame({ session }: { readonly session: Session }) {
  const { path, query } = place.value;
  const view = findView(path);
  const isHelpOpen = useSignal(false);
  useService();
  useEffect(() => startScanner(openPet), []);
  const title = view?.title ?? "Not found";
  const role = view && (rolesOfPages[path] ?? view.role);
  useEffect(() => {
    document.title = `${title} – Pet Store Inventory`;
  }, [title]);
  const content = useContentFocus(path);
  const openHelp = () => (isHelpOpen.value = true);
  usePageKey("?", openHelp);
  return (
    <>
      <a class="skip-link" href="#content">
        Skip to content
      </a>
      <div class="app console">
        <Topbar session={session} openHelp={openHelp} />
        <Sidebar current={view} />
        <main class="content" id="content" tabIndex={-1} aria-label={title} ref={content}>
          <ConnectionNotice />
          {view && may(role!) ? (
            <ViewSlot
              key={view.path}
              view={view}
              rest={path.slice(view.path.length).replace(/^\/+/, "")}
              query={query}
            />
          ) : (
            <NotShown role={role} />
          )}
        </main>
      </div>
      {isHelpOpen.value && <KeyboardHelp view={view} close={() => (isHelpOpen.value = false)} />}
      <OpenQuestion />
    </>
  );
}

/** Opens the pet of a scan. The code for it is loaded on demand, because most views need none. */
function openPet(code: string): void {
  import("../stock/scanned.ts").then(({ openScanned }) => openScanned(code)).catch(showError);
}

/**
 * Moves the focus to the content when another view is opened. Screen readers then say its name, and Tab
 * goes on from there. A field of the view that has the focus keeps it.
 */
function useContentFocus(path: string): RefObject<HTMLElement | null> {
  const content = useRef<HTMLElement>(null);
  const lastPath = useRef(path);
  useLayoutEffect(() => {
    // The browser places the focus when the page is loaded.
    if (path === lastPath.current) return;
    lastPath.current = path;
    if (content.current!.contains(document.activeElement)) return;
    content.current!.focus({ preventScroll: true });
  }, [path]);
  return content;
}

/** Instead of a view. `role` is the least one that can open it; undefined if there is no such view. */
function NotShown({ role }: { readonly role: OperatorRole | undefined }) {
  return (
    <Empty title={role ? "Your role does not allow this" : "There is no such page"} isPage>
      <p>{role ? `Ask an owner for the role ${role}.` : "The address may be mistyped."}</p>
      <a class="button" href="/console">
        Open the overview
      </a>
    </Empty>
  );
}

const pollMs = 15_000;
/** After a change, the state is loaded again, but not more often than this. */
const reloadMsMin = 2_000;

/** Keeps the state of the service up to date while the component is there. */
function useService(): void {
  const source = usePolled<Service>("/service", pollMs);
  useEffect(() => {
    service.value = source;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reloadSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void source.reload();
      }, reloadMsMin);
    };
    const stop = listen({ rows: reloadSoon, reset: reloadSoon });
    return () => {
      stop();
      clearTimeout(timer);
      service.value = undefined;
    };
  }, []);
}

/** Loads the code of a view and shows it. */
function ViewSlot({ view, rest, query }: ViewProps & { readonly view: View }) {
  const state = useLoaded(view.load).state.value;
  if (state.kind === "failed") return <NotLoaded />;
  if (state.kind === "loading") return <p class="loading">Loading…</p>;
  const Shown = state.value.default;
  return (
    <ErrorBoundary>
      <Shown rest={rest} query={query} />
    </ErrorBoundary>
  );
}

/**
 * After an upgrade of the service, the files of the earlier version are gone. Browsers remember that a
 * module could not be loaded, so only a reload helps.
 */
function NotLoaded() {
  return (
    <Empty title="This page could not be loaded" isPage isAlert>
      <p>The connection failed, or the service was updated since you opened the console.</p>
      <Button kind="primary" onClick={() => window.location.reload()}>
        Reload the console
      </Button>
    </Empty>
  );
}

/** Keeps the frame usable if a view has a bug. */
function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, showAgain] = useErrorBoundary((thrown) => console.error(thrown));
  if (error === undefined) return <>{children}</>;
  return (
    <Empty title="This page has a problem" isPage isAlert>
      <p>What you saved is safe. Show the page again, or open another one.</p>
      <Button kind="primary" onClick={showAgain}>
        Show the page again
      </Button>
    </Empty>
  );
}

const everywhere: readonly Shortcut[] = [
  ["?", "Show this help"],
  ["Tab", "Go to the next control"],
  ["Esc", "Close a dialog or the menu"],
];

interface HelpProps {
  readonly view: View | undefined;
  readonly close: () => void;
}

function KeyboardHelp({ view, close }: HelpProps) {
  const here = useSignal<readonly Shortcut[]>([]);
  useEffect(() => {
    void view?.load().then(({ shortcuts = [] }) => (here.value = shortcuts));
  }, [view, here]);
  return (
    <Dialog title="Keyboard" close={close}>
      <ShortcutList title="Everywhere" shortcuts={everywhere} />
      {here.value.length > 0 && <ShortcutList title={view!.title} shortcuts={here.value} />}
    </Dialog>
  );
}

function ShortcutList(props: { readonly title: string; readonly shortcuts: readonly Shortcut[] }) {
  return (
    <section class="shortcuts">
      <h3>{props.title}</h3>
      <dl>
        {props.shortcuts.map(([keys, meaning]) => (
          <div key={keys + meaning}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd class="kbd" key={key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
