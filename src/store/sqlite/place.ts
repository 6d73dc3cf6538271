import { statSync } from "node:fs";
import { Refusal } from "../../domain/errors.ts";

/** Watches over the file's name: it must go on meaning the file that was opened. */
export interface Place {
  isHeld(): boolean;
  /**
   * To be asked before a commit, and again before anybody is told of it. A file that was deleted or moved
   * away, or whose name means another one by now, can still be written, and nobody would ever find
   * what it holds.
   */
  assertHeld(): void;
}

export function watchPlace(path: string): Place {
  const opened = statSync(path);

  function isHeld(): boolean {
    try {
      const found = statSync(path);
      return found.ino === opened.ino && found.dev === opened.dev;
    } catch {
      return false;
    }
  }

  return {
    isHeld,
    assertHeld() {
      if (!isHeld()) {
        throw new Refusal("unavailable", "The store cannot be written; try again later.");
      }
    },
  };
}
