import { backupsSettings } from "./settings/backups.ts";
import { limitsSettings } from "./settings/limits.ts";
import { monitoringSettings } from "./settings/monitoring.ts";
import { servingSettings, webhooksSettings } from "./settings/serving.ts";

/**
 * Every setting. Names are the fields of Config. Flags, variables, the settings file, help and the
 * documentation are derived from this list.
 */
export const settings = {
  ...servingSettings,
  ...limitsSettings,
  ...webhooksSettings,
  ...monitoringSettings,
  ...backupsSettings,
} as const;

/** The settings by what they are for, as help and the documentation show them. */
export const settingGroups = [
  { title: "Serving", settings: servingSettings },
  { title: "Limits", settings: limitsSettings },
  { title: "Webhooks", settings: webhooksSettings },
  { title: "Logs, metrics and traces", settings: monitoringSettings },
  { title: "Backups", settings: backupsSettings },
] as const;

export type SettingName = keyof typeof settings;

export const settingNames = Object.keys(settings) as readonly SettingName[];

/** The values of all settings, by name. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]["read"]>;
};
