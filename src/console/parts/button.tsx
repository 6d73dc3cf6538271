import type { ComponentChildren } from "preact";
import { hrefOf } from "../page/router.ts";
import { Icon, type IconName } from "./icon.tsx";

interface Look {
  readonly kind?: "primary" | "danger" | "quiet" | undefined;
  readonly isSmall?: boolean;
  readonly icon?: IconName;
  readonly class?: string;
  readonly children?: ComponentChildren;
}

interface ButtonProps extends Look {
  /** Without it, the button submits its form. */
  readonly onClick?: (() => unknown) | undefined;
  readonly isDisabled?: boolean;
  /** What it does, if its content does not say it. */
  readonly label?: string;
  readonly title?: string;
  readonly tabIndex?: number;
}

/** A button. Without content, it shows only its icon. */
export function Button(props: ButtonProps) {
  const { onClick, isDisabled = false, label, title, tabIndex, icon, children } = props;
  return (
    <button
      type={onClick ? "button" : "submit"}
      class={classOf(props)}
      aria-label={label}
      title={title ?? (children === undefined ? label : undefined)}
      tabIndex={tabIndex}
      disabled={isDisabled}
      onClick={() => void onClick?.()}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link to another view that looks like a button. */
export function LinkButton(props: Look & { readonly to: string }) {
  const { to, icon, children } = props;
  return (
    <a class={classOf(props)} href={hrefOf(to)}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

function classOf({ kind, isSmall = false, children, class: extra = "" }: Look): string {
  const isBare = children === undefined;
  return `button ${kind ?? ""} ${isSmall ? "small" : ""} ${isBare ? "icon-only" : ""} ${extra}`;
}
