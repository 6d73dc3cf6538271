import { signal } from "@preact/signals";
import { messageOf } from "../client/api.ts";
import { session } from "../client/session.ts";

export interface Toast {
  readonly id: number;
  readonly kind: "success" | "danger";
  readonly text: string;
  /** A button, for example to undo. */
  readonly action?: ToastAction | undefined;
}

export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

export const toasts = signal<readonly Toast[]>([]);

const shownMs = 6_000;
const toastsMax = 4;
let lastId = 0;

/** Shows that something was done. It disappears by itself. */
export function showSuccess(text: string, action?: ToastAction): void {
  const id = add({ kind: "success", text, action });
  setTimeout(() => dismissToast(id), shownMs);
}

/** Shows why something failed. It stays until the person closes it. */
export function showError(error: unknown): void {
  add({ kind: "danger", text: typeof error === "string" ? error : messageOf(error) });
}

export function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function add(toast: Omit<Toast, "id">): number {
  lastId += 1;
  toasts.value = [...toasts.value, { ...toast, id: lastId }].slice(-toastsMax);
  return lastId;
}

// The buttons of one session must not act in the name of the next person.
session.subscribe(() => {
  toasts.value = [];
});

/** What a screen reader says next. */
export const announcement = signal("");

/** Makes screen readers say a text. */
export function announce(text: string): void {
  // A live region is read only when its text changes.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}
