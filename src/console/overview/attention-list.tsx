import type { Attention } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Icon } from "../parts/icon.tsx";
import { capitalized } from "../texts/formats.ts";
import { withLocalTimes } from "../texts/times.ts";

/** What somebody should look at, problems first. */
export function AttentionList({ items }: { readonly items: readonly Attention[] }) {
  if (items.length === 0) {
    return (
      <p class="notice success row">
        <Icon name="check" />
        Nothing needs your attention.
      </p>
    );
  }
  return (
    <section aria-label="Needs attention">
      <ul class="stack attention">
        {items.map(({ severity, text, view }) => (
          <li key={text} class={`notice ${severity === "problem" ? "danger" : "warning"}`}>
            <Icon name="warning" />
            <span class="attention-text" title={text}>
              <span class="visually-hidden">
                {severity === "problem" ? "Problem" : "Warning"}:{" "}
              </span>
              {withLocalTimes(text)}
            </span>
            {view !== "overview" && <a href={hrefOf(`/${view}`)}>Open {capitalized(view)}</a>}
          </li>
        ))}
      </ul>
    </section>
  );
}
