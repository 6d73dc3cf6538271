import { type SettingName, settings } from "../settings.ts";
import { type Command, command, json } from "./command.ts";
import { printConfig } from "./config.ts";

/** Commands about the settings and the command line itself. */
export const configCommands: readonly Command[] = [
  command({
    name: "config",
    summary: "Shows every setting, its value and where the value comes from.",
    topic: "command line",
    examples: ["petstore config --env staging", "petstore config --port 9000 --json"],
    operands: [],
    flags: { json },
    settings: Object.keys(settings) as SettingName[],
    run: printConfig,
  }),
];
