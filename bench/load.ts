// The load generator's own process: takes plans from its parent, one after another, and reports
// each outcome. Apart from the benchmark, so that its work is on no contestant's account, and
// long-lived, so that it is warm for all of them alike.
import { readFileSync } from "node:fs";
import { quantityMax, quantityMin } from "./catalogue.ts";
import { drive, type Outcome } from "./drive.ts";
import { Bounds, FirstGetScript, FreshnessScript, RaisingScript } from "./mixed-scripts.ts";
import { GetScript, PatchScript, type Script, type Target } from "./scripts.ts";

const quantities = quantityMax - quantityMin + 1;

export type Work =
  /** Every connection reads the list; every body equals the bytes in the file. */
  | { kind: "get"; connections: number; expectedFile: string }
  /** Every connection writes pets of its own among 1 … entries. */
  | { kind: "patch"; connections: number; entries: number }
  /** One connection alternates PATCH and GET; the file holds the list before the first. */
  | { kind: "first-get"; entries: number; expectedFile: string }
  /** Writers raise one pet each from `quantity`; readers check that what they see is current. */
  | { kind: "mixed"; writers: number; readers: number; entries: number; quantity: number };

export interface Plan {
  target: Target;
  work: Work;
  durationMs: number;
}

export type Report = { outcome: Outcome } | { failure: string };

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
        // SQLite skips the flush when an update changes nothing, so every run begins elsewhere and
        // neighbours that share a pet are far apart: hardly a number is ever sent twice in a row.
        const quantity = quantityMin + ((first + index * 37) % quantities);
        const petId = 1 + (index % work.entries);
        return new PatchScript(target, petId, work.connections, work.entries, quantity);
      });
    }
    case "first-get":
      return [new FirstGetScript(target, readFileSync(work.expectedFile), work.entries)];
    case "mixed": {
      if (work.writers > work.entries) throw new Error("Each writer needs a pet of its own.");
      const bounds = new Bounds(work.writers);
      return [
        ...each(
          work.writers,
          (index) => new RaisingScript(target, bounds, index + 1, work.quantity),
        ),
        ...each(work.readers, () => new FreshnessScript(target, bounds, work.entries)),
      ];
    }
  }
}

if (import.meta.main) {
  process.on("message", async (plan: Plan) => {
    const report: Report = await drive(
      plan.target,
      scriptsFor(plan.target, plan.work),
      plan.durationMs,
    ).then(
      (outcome) => ({ outcome }),
      (error: Error) => ({ failure: error.message }),
    );
    process.send!(report);
  });
  process.on("disconnect", () => process.exit(0));
}
