// The kinds of load, and the scripts that produce each of them.
import { readFileSync } from "node:fs";
import { quantityMax, quantityMin } from "./catalogue.ts";
import {
  FirstGetScript,
  FreshReadScript,
  IncrementScript,
  WriteProgress,
} from "./freshness-scripts.ts";
import { BatchScript, PageScript } from "./ledger-scripts.ts";
import { GetScript, type PatchOptions, PatchScript, type Script, type Target } from "./scripts.ts";

const quantities = quantityMax - quantityMin + 1;

export type Work =
  /** Every connection reads the list; every body equals the bytes in the file. */
  | { kind: "get"; connections: number; expectedFile: string }
  /**
   * Every connection updates its share of the pets 1 … entries. All together send `perSecond` requests
   * if it is given, otherwise as many as they can.
   */
  | ({ kind: "patch"; connections: number; entries: number; perSecond?: number } & PatchOptions & {
        /** Compared with work that only the generator in JavaScript can send, so it sends this too. */
        isComparedWithOthers?: boolean;
      })
  /** Every connection sets the pets 1 … changes in one request. */
  | { kind: "batch"; connections: number; changes: number }
  /** Every connection reads the same page, which has this number of ledger rows. */
  | { kind: "page"; connections: number; path: string; rows: number }
  /** One connection alternates PATCH and GET; the file contains the list before the first PATCH. */
  | { kind: "first-get"; entries: number; expectedFile: string }
  /** Each writer increments one pet from `quantity`; readers check that the list is current. */
  | { kind: "mixed"; writers: number; readers: number; entries: number; quantity: number };

export function scriptsFor(target: Target, work: Work): Script[] {
  const each = (count: number, make: (index: number) => Script) =>
    Array.from({ length: count }, (_, index) => make(index));
  switch (work.kind) {
    case "get": {
      const expected = readFileSync(work.expectedFile);
      return each(work.connections, () => new GetScript(target, expected));
    }
    case "patch": {
      const first = Math.floor(Math.random() * quantities);
      return each(work.connections, (index) => {
        // SQLite skips the flush when an update changes nothing. Every run therefore starts at a
        // random quantity, and connections that share a pet are 37 apart, so a pet is almost never
        // set to the quantity it already has.
        const quantity = quantityMin + ((first + index * 37) % quantities);
        const petId = 1 + (index % work.entries);
        return new PatchScript(target, petId, work.connections, work.entries, quantity, work);
      });
    }
    case "batch":
      return each(work.connections, (index) => new BatchScript(target, work.changes, index));
    case "page":
      return each(work.connections, () => new PageScript(target, work.path, work.rows));
    case "first-get":
      return [new FirstGetScript(target, readFileSync(work.expectedFile), work.entries)];
    case "mixed": {
      if (work.writers > work.entries) throw new Error("There are more writers than pets.");
      const progress = new WriteProgress(work.writers);
      return [
        ...each(
          work.writers,
          (index) => new IncrementScript(target, progress, index + 1, work.quantity),
        ),
        ...each(work.readers, () => new FreshReadScript(target, progress, work.entries)),
      ];
    }
  }
}
