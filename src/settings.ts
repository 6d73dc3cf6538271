import { backupsSettings } from "./settings/backups.ts";
import { limitsSettings } from "./settings/limits.ts";
import { monitoringSettings } from "./settings/monitoring.ts";
import { servingSettings } from "./settings/serving.ts";
import { webhooksSettings } from "./settings/webhooks.ts";

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

export type SettingName = keyof typeof settings;

/** The values of all settings, by name. */
export type SettingValues = {
  readonly [Name in SettingName]: ReturnType<(typeof settings)[Name]["read"]>;
};
