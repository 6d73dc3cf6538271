import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { may } from "../client/session.ts";
import type { OperatorRole, Session } from "../client/types.ts";
import { showError } from "../page/messages.ts";
import { place } from "../page/router.ts";
import { Empty } from "../parts/empty.tsx";
import { usePageKey } from "../parts/page-key.ts";
import { OpenQuestion } from "../parts/question.tsx";
import { startScanner } from "../parts/scanner.ts";
import { ConnectionNotice } from "./badges.tsx";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { useService } from "./service.ts";
import { Sidebar } from "./sidebar.tsx";
import { Topbar } from "./topbar.tsx";
import { ViewSlot } from "./view-slot.tsx";
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
  const openHelp = () => {
    isHelpOpen.value = true;
  };
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
