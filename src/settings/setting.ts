import { shownAddress } from "../domain/values/hiding.ts";

import { readCount, readWord } from "./readers.ts";

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

type Row<T> = Omit<Setting<T>, "variable" | "default"> & {
  readonly variable?: string;
  readonly default?: string;
};

/**
 * A row of the table of settings. The variable of `--backup-keep` is PETSTORE_BACKUP_KEEP unless given,
 * and the default is empty unless given.
 */
export function setting<T>(row: Row<T>): Setting<T> {
  const variable = `PETSTORE_${row.flag.toUpperCase().replaceAll("-", "_")}`;
  return { variable, default: "", ...row };
}

/** A setting that is a number, of at least 1 unless it has a reader of its own. */
export function count(
  row: Omit<Row<number>, "placeholder" | "read"> & Partial<Pick<Row<number>, "read">>,
): Setting<number> {
  return setting({ placeholder: "N", read: readCount, ...row });
}

/** A setting that is one of some words. */
export function choice<T extends string>(
  words: readonly T[],
  row: Omit<Row<T>, "placeholder" | "read">,
): Setting<T> {
  return setting({ placeholder: words.join("|"), read: readWord(words), ...row });
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

/** The text of a setting without passwords. A secret setting is shown only in a form whose secrets are known. */
export function shownValue({ isSecret }: Pick<Setting<unknown>, "isSecret">, text: string): string {
  const isOpen = !isSecret || /^(?:sqlite:|https?:\/\/|postgres(?:ql)?:\/\/|$)/.test(text);
  return isOpen ? shownAddress(text) : "[hidden]";
}
