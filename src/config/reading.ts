import { hideTyped } from "../output.ts";
import { type Setting, shownValue } from "../settings/setting.ts";
import { findUnknownVariables } from "../settings/unknown-variables.ts";
import { type SettingName, type SettingValues, settingNames, settings } from "../settings.ts";
import { checkTogether } from "./checks.ts";
import { noSettingsFile, readSettingsFile, type SettingsFile } from "./file.ts";

/** Where the value of a setting comes from. An earlier one overrides a later one. */
export type Origin = "flag" | "variable" | "file" | "default";

/** A setting with its value and where that comes from. */
export interface ReadSetting {
  readonly name: SettingName;
  readonly setting: Setting<unknown>;
  readonly origin: Origin;
  /** The flag, the variable, or the file with the line. Empty for a default. */
  readonly source: string;
  readonly text: string;
  /** Undefined if the text is not valid, and for some settings that are off. */
  readonly value: unknown;
  readonly problem: string | undefined;
}

export interface ReadSettings {
  readonly all: readonly ReadSetting[];
  /** Everything that is wrong, one sentence each. The values can be used only if this is empty. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly values: SettingValues;
}

export type Flags = Readonly<Record<string, unknown>>;
export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads every setting. `databaseFlag` is the flag that names the database. */
export function readSettings(
  flags: Flags,
  variables: Variables,
  databaseFlag: string,
): ReadSettings {
  const flagOf = (name: SettingName) =>
    name === "databaseUrl" ? databaseFlag : settings[name].flag;
  const readFrom = (name: SettingName, path: string, file: SettingsFile) =>
    readSetting(name, flagOf(name), { flags, variables, path, file });
  const path = readFrom("configFile", "", noSettingsFile).text;
  const file = path === "" ? noSettingsFile : readSettingsFile(path);
  const all = settingNames.map((name) => readFrom(name, path, file));
  hideTyped(all.map(({ text }) => text));
  const values = Object.fromEntries(all.map(({ name, value }) => [name, value]));
  return {
    all,
    problems: [
      ...findUnknownVariables(
        variables,
        all.map(({ setting }) => setting.variable),
      ),
      ...file.problems,
      ...all.flatMap(({ problem }) => problem ?? []),
      ...checkTogether(values),
    ],
    warnings: file.isReadableByOthers ? secretsIn(path, all) : [],
    values: values as unknown as SettingValues,
  };
}

interface Sources {
  readonly flags: Flags;
  readonly variables: Variables;
  readonly path: string;
  readonly file: SettingsFile;
}

function readSetting(name: SettingName, flagName: string, sources: Sources): ReadSetting {
  const setting: Setting<unknown> = settings[name];
  const found = findText(setting, flagName, sources);
  try {
    const value = setting.read(found.text);
    return { name, setting, ...found, value, problem: undefined };
  } catch (error) {
    const { origin, source, text } = found;
    const where = origin === "file" ? `${source}: ${setting.flag}` : source;
    const shown = setting.isSecret ? "" : `, not '${shownValue(setting, text)}'`;
    const problem = `${where} ${(error as Error).message}${shown}`;
    return { name, setting, ...found, value: undefined, problem };
  }
}

function findText(
  { flag, variable, default: initial }: Setting<unknown>,
  flagName: string,
  { flags, variables, path, file }: Sources,
): Pick<ReadSetting, "origin" | "source" | "text"> {
  const given = flags[flagName];
  if (typeof given === "string") return { origin: "flag", source: `--${flagName}`, text: given };
  const set = variables[variable];
  if (set) return { origin: "variable", source: variable, text: set };
  const entry = file.entries.get(flag);
  if (entry) return { origin: "file", source: `${path}:${entry.line}`, text: entry.text };
  return { origin: "default", source: "", text: initial };
}

/** Warns of passwords in a file that others can read. They may be there on purpose. */
function secretsIn(path: string, all: readonly ReadSetting[]): readonly string[] {
  const secrets = all.filter(
    ({ origin, setting, text }) => origin === "file" && shownValue(setting, text) !== text,
  );
  if (secrets.length === 0) return [];
  const names = secrets.map(({ setting }) => setting.flag).join(" and ");
  return [
    `${path} contains a secret (${names}) and other users can read it; run chmod 600 ${path}`,
  ];
}
