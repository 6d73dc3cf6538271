import { type Command, command, json, storeSettings } from "./command.ts";
import { upgrade } from "./upgrade.ts";

/** Commands that keep a store safe. */
export const maintenanceCommands: readonly Command[] = [
  command({
    name: "upgrade",
    summary: "Says what a start would migrate, and tries it on a copy.",
    topic: "maintenance",
    examples: ["petstore upgrade --check"],
    operands: [],
    flags: {
      check: { description: "Required: only a start of the service migrates a store." },
      json,
    },
    settings: storeSettings,
    run: upgrade,
  }),
];
