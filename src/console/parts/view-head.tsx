import type { ComponentChildren } from "preact";

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
