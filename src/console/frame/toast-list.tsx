import { dismissToast, type Toast, toasts } from "../page/toasts.ts";
import { Icon } from "../parts/icon.tsx";

export function ToastList() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastCard({ toast }: { readonly toast: Toast }) {
  const { id, kind, text, action } = toast;
  return (
    <div class={`toast ${kind}`} role={kind === "danger" ? "alert" : undefined}>
      <Icon name={kind === "danger" ? "warning" : "check"} />
      <span>{text}</span>
      {action && (
        <button
          type="button"
          class="button small"
          onClick={() => {
            dismissToast(id);
            action.run();
          }}
        >
          {action.label}
        </button>
      )}
      <button
        type="button"
        class="button quiet small icon-only"
        aria-label="Close"
        onClick={() => dismissToast(id)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
