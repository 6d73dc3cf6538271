import type { ComponentChildren } from "preact";
import { hrefOf } from "../page/router.ts";
import { usePolled, WhenLoaded } from "./loaded.tsx";

interface Props<T> {
  readonly of: "keys" | "webhooks";
  readonly id: string;
  readonly children: (loaded: T, reload: () => void) => ComponentChildren;
}

/** One key or webhook, read again every few seconds, under a link to all of them. */
export function Detail<T>({ of, id, children }: Props<T>) {
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
