import { readFileSync } from "node:fs";

/** Returns the style sheet of the kit, for a page that is not bundled. */
export function kitStyles(): string {
  return read("tokens.css") + read("components.css");
}

/** A single executable has these files beside all code: see bin/build-binary. */
function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}
