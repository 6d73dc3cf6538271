import type { ComponentChildren, ComponentType } from "preact";
import type { OperatorRole } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import type { IconName } from "./icon.tsx";
import { usePolled, WhenLoaded } from "./loaded.tsx";

/** What the component of a view gets. */
export interface ViewProps {
  /** The address after the view's own path, without slashes at its ends: "17" in /stock/17. */
  readonly rest: string;
  readonly query: URLSearchParams;
}

interface ViewModule {
  readonly default: ComponentType<ViewProps>;
  /** Keys and what they do, for the keyboard help. */
  readonly shortcuts?: readonly Shortcut[];
}

/** Keys, separated by spaces, and what they do. */
export type Shortcut = readonly [keys: string, meaning: string];

export interface View {
  /** One word, with a slash before it. */
  readonly path: string;
  /** In the navigation and in the title of the window. */
  readonly title: string;
  readonly icon: IconName;
  /** The least role that can use it. */
  readonly role: OperatorRole;
  /** Called when the view is first opened, so that the first view loads only its own code. */
  readonly load: () => Promise<ViewModule>;
}

interface Props {
  readonly title: string;
  /** Beside the title, for example a badge. */
  readonly badges?: ComponentChildren;
  /** At the other end of the line, for example buttons. */
  readonly children?: ComponentChildren;
}

/** The top of a view. */
export function ViewHead({ title, badges, children }: Props) {
  return (
    <div class="spread view-head">
      <div class="row">
        <h1 class="view-title">
          <bdi>{title}</bdi>
        </h1>
        {badges}
      </div>
      {children}
    </div>
  );
}

interface DetailProps<T> {
  readonly of: "keys" | "webhooks";
  readonly id: string;
  readonly children: (loaded: T, reload: () => void) => ComponentChildren;
}

/** One key or webhook, read again every few seconds, under a link to all of them. */
export function Detail<T>({ of, id, children }: DetailProps<T>) {
  const source = usePolled<T>(`/${of}/${encodeURIComponent(id)}`);
  return (
    <>
      <BackLink to={of} />
      <WhenLoaded source={source}>
        {(loaded) => children(loaded, () => void source.reload())}
      </WhenLoaded>
    </>
  );
}

export function BackLink({ to }: { readonly to: "keys" | "webhooks" }) {
  return (
    <a class="back-link" href={hrefOf(`/${to}`)}>
      ← All {to}
    </a>
  );
}
