/** A value that an operator can set, with a flag, an environment variable or the settings file. */
export interface Setting<T> {
  readonly flag: string;
  readonly variable: string;
  /**
   * What the value is called in help: --port PORT. A setting without a placeholder is a switch: its
   * flag takes no value and means `on`.
   */
  readonly placeholder?: string;
  /** Used if the value is set nowhere. `<env>` stands for the environment. */
  readonly default: string;
  /** One or two sentences, for help and for the documentation. */
  readonly description: string;
  /** The unit of a number, for the documentation. */
  readonly unit?: string;
  /** Converts the text. The message of the error that it throws follows the flag's name. */
  readonly read: (text: string) => T;
  /** The value may contain a password, so no message shows it. */
  readonly isSecret?: boolean;
}

/** A row of the table of settings. The variable of `--backup-keep` is PETSTORE_BACKUP_KEEP unless given. */
export function setting<T>(row: Omit<Setting<T>, "variable"> & { variable?: string }): Setting<T> {
  return { variable: `PETSTORE_${row.flag.toUpperCase().replaceAll("-", "_")}`, ...row };
}

export type SettingKind = "switch" | "number" | "list" | "text";

const kinds: Readonly<Record<string, SettingKind>> = {
  N: "number",
  PORT: "number",
  RATIO: "number",
  NETWORKS: "list",
  ORIGINS: "list",
  HEADERS: "list",
};

/** The kind of value that a settings file may have for a setting, by what help calls the value. */
export function kindOf({ placeholder }: Pick<Setting<unknown>, "placeholder">): SettingKind {
  return placeholder === undefined ? "switch" : (kinds[placeholder] ?? "text");
}
