import { useEffect } from "preact/hooks";

/** Calls `act` when a key is pressed outside all fields. */
export function usePageKey(key: string, act: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== key || target.matches("input, textarea, select")) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
