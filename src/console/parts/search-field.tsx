import type { Ref } from "preact";
import { Icon } from "./icon.tsx";

interface Props {
  /** For screen readers and, unless there is another placeholder, in the empty field. */
  readonly label: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly search: (text: string) => void;
  readonly field?: Ref<HTMLInputElement>;
}

/** Finds something while the person types. */
export function SearchField({ label, placeholder = label, value, search, field = null }: Props) {
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
        value={value}
        onInput={(event) => search(event.currentTarget.value)}
      />
    </div>
  );
}
