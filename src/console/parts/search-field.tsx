import type { Ref } from "preact";
import { Icon } from "./icon.tsx";

interface Props {
  /** For screen readers. */
  readonly label: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly search: (text: string) => void;
  readonly field?: Ref<HTMLInputElement>;
}

/** Finds pets while the person types. */
export function SearchField({ label, placeholder, value, search, field = null }: Props) {
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={placeholder ?? "Search by id, name or barcode"}
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
