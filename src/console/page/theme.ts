import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

/** The page at /docs uses the same choice. */
const storageName = "petstore-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");

/** The theme that the person chose, or undefined to follow the system. */
const chosen = signal<Theme | undefined>(readChosen());
const systemTheme = signal<Theme>(system.matches ? "dark" : "light");

export function currentTheme(): Theme {
  return chosen.value ?? systemTheme.value;
}

export function startTheme(): void {
  system.addEventListener("change", () => {
    systemTheme.value = system.matches ? "dark" : "light";
  });
  apply();
}

export function switchTheme(): void {
  chosen.value = currentTheme() === "dark" ? "light" : "dark";
  apply();
  try {
    window.localStorage.setItem(storageName, chosen.value);
  } catch {
    // A browser without storage forgets the choice. Nothing depends on it.
  }
}

function apply(): void {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
}

function readChosen(): Theme | undefined {
  try {
    const value = window.localStorage.getItem(storageName);
    return value === "light" || value === "dark" ? value : undefined;
  } catch {
    return undefined;
  }
}
