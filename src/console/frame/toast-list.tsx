import { dismissToast, type Toast, toasts } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
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
        <Button
          isSmall
          onClick={() => {
            dismissToast(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button kind="quiet" isSmall icon="close" label="Close" onClick={() => dismissToast(id)} />
    </div>
  );
}
