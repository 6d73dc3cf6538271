import { type SettingName, settings } from "../settings.ts";
import { type Command, command, json } from "./command.ts";
import { doctor } from "./doctor.ts";

const allSettings = Object.keys(settings) as SettingName[];

/** Commands that keep a store safe. */
export const maintenanceCommands: readonly Command[] = [
  command({
    name: "doctor",
    summary: "Checks the settings, the store and the machine, and says what to do.",
    topic: "maintenance",
    examples: ["petstore doctor", "petstore doctor --env staging --json"],
    operands: [],
    flags: { json },
    settings: allSettings,
    run: doctor,
  }),
];
