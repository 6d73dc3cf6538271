// What the browser keeps for this page. A browser without storage keeps nothing, and the page still works.

export function readStored(name: string): string | undefined {
  try {
    return window.localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function store(name: string, text: string): void {
  try {
    window.localStorage.setItem(name, text);
  } catch {
    // A reload forgets it.
  }
}
