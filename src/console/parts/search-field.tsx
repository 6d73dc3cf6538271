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

/** More than any name has, and less than an address can have. */
const charactersMax = 500;

/** Finds pets while the person types. */
export function SearchField(props: Props) {
  const { label, placeholder = "Search by id or name", value, search, field = null } = props;
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={placeholder}
        maxLength={charactersMax}
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => search(event.currentTarget.value)}
      />
    </div>
  );
}
