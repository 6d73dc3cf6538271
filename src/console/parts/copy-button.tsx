import { useSignal } from "@preact/signals";
import { announce, showError } from "../page/messages.ts";
import { Button } from "./button.tsx";

interface Props {
  readonly text: string;
  /** What is copied, for example "key". */
  readonly what: string;
}

export function CopyButton({ text, what }: Props) {
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
    <Button icon={isCopied.value ? "check" : "copy"} label={`Copy the ${what}`} onClick={copy}>
      {isCopied.value ? "Copied" : "Copy"}
    </Button>
  );
}
