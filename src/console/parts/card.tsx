import { type ComponentChildren, Fragment } from "preact";
import { useId } from "preact/hooks";

interface CardProps {
  readonly title: string;
  /** Shown at the end of the title's line. */
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A part of a view, in a box with a title. */
export function Card({ title, aside, class: kind = "", children }: CardProps) {
  const id = useId();
  const heading = (
    <h2 class="card-title" id={id}>
      {title}
    </h2>
  );
  return (
    <section class={`card ${kind}`} aria-labelledby={id}>
      {aside ? (
        <div class="spread">
          {heading}
          {aside}
        </div>
      ) : (
        heading
      )}
      {children}
    </section>
  );
}

type Fact = readonly [title: ComponentChildren, value: ComponentChildren];

/** A list of titles with values. */
export function Facts({ facts }: { readonly facts: readonly (Fact | undefined)[] }) {
  const known = facts.filter((fact) => fact !== undefined);
  return (
    <dl class="facts">
      {known.map(([title, value], index) => (
        <Fragment key={index}>
          <dt class="hint">{title}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
