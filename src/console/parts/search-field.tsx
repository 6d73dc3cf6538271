import type { Signal } from "@preact/signals";
import type { Ref } from "preact";
import { Icon } from "./icon.tsx";

interface Props {
  /** For screen readers and, unless there is another placeholder, in the empty field. */
  readonly label: string;
  readonly placeholder?: string;
  readonly text: Signal<string>;
  readonly field?: Ref<HTMLInputElement>;
}

/** Finds something while the person types. */
export function SearchField({ label, placeholder = label, text, field = null }: Props) {
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={placeholder}
        maxLength={500}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
    </div>
  );
}
