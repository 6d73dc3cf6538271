import type { Ref } from "preact";
import { Icon } from "./icon.tsx";

interface Props {
  /** For screen readers. */
  readonly label: string;
  readonly value?: string;
  readonly search: (text: string) => void;
  readonly field?: Ref<HTMLInputElement>;
}

/** Finds pets while the person types. */
export function SearchField({ label, value, search, field = null }: Props) {
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder="Search by id or name"
        aria-label={label}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => search(event.currentTarget.value)}
      />
    </div>
  );
}
