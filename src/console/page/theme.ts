import { signal } from "@preact/signals";
import { readStored, store } from "./storage.ts";

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
  system.addEventListener("change", () => (systemTheme.value = system.matches ? "dark" : "light"));
  apply();
}

export function switchTheme(): void {
  chosen.value = currentTheme() === "dark" ? "light" : "dark";
  apply();
  store(storageName, chosen.value);
}

function apply(): void {
  if (chosen.value) document.documentElement.dataset.theme = chosen.value;
}

function readChosen(): Theme | undefined {
  const value = readStored(storageName);
  return value === "light" || value === "dark" ? value : undefined;
}
