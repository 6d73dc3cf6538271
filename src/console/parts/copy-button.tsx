import { useSignal } from "@preact/signals";
import { announce, showError } from "../page/messages.ts";
import { Button } from "./button.tsx";

interface Props {
  readonly text: string;
  /** What the text is, for example "key". */
  readonly what: string;
  readonly isSmall?: boolean;
  /** "Copy" unless given. */
  readonly children?: string;
}

export function CopyButton({ text, what, isSmall = false, children }: Props) {
  const isCopied = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      isCopied.value = true;
      announce(`Copied the ${what}`);
      setTimeout(() => (isCopied.value = false), 2_000);
    } catch {
      showError(`The browser did not allow copying. Select the ${what} and copy it yourself.`);
    }
  };
  return (
    <Button
      icon={isCopied.value ? "check" : "copy"}
      isSmall={isSmall}
      {...(!children && { label: `Copy the ${what}` })}
      onClick={copy}
    >
      {isCopied.value ? "Copied" : (children ?? "Copy")}
    </Button>
  );
}
