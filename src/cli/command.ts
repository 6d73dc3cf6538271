import type { SettingName } from "../settings.ts";

/** A flag that only some commands have. The settings are flags of every command. */
export interface Flag {
  /** What the value is called in help. A flag without a placeholder takes no value. */
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly description: string;
  /** The input field of the domain that the flag sets, if it has another name. */
  readonly field?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** The headings under which `petstore help` lists the commands, in this order. */
export const topics = {
  serve: "Serve",
  keys: "API keys",
  "pets and orders": "Pets and orders",
  history: "Stock and its history",
  webhooks: "Webhooks",
  maintenance: "Maintenance",
  "command line": "The command line",
} as const;

export type Topic = keyof typeof topics;

export interface Operand {
  readonly name: string;
  readonly description: string;
}

type FlagValue<F extends Flag> = F extends { placeholder: string }
  ? F extends { required: true }
    ? string
    : string | undefined
  : boolean;

/** What a user typed after the name of a command. */
export interface Input<Values = unknown, Operands = unknown> {
  readonly flags: Values;
  readonly operands: Operands;
  /** The settings that were given as flags, by flag. */
  readonly settings: Readonly<Record<string, string>>;
}

interface Definition<F extends Flags, O extends readonly Operand[]> {
  /** One or two words. */
  readonly name: string;
  /** A sentence for help and for docs/commands.md. */
  readonly summary: string;
  readonly topic: Topic;
  /** One or two command lines that work as they are, apart from the names in them. */
  readonly examples: readonly string[];
  /** By default, none. */
  readonly operands?: O;
  readonly flags: F;
  /** Set for a command that changes a store. If it is interrupted before that, it says so. */
  readonly changes?: true;
  /** The settings that affect this command, for its help. By default, those of a store. */
  readonly settings?: readonly SettingName[];
  /** Returns the exit code. */
  readonly run: (
    input: Input<
      { readonly [Name in keyof F]: FlagValue<F[Name]> },
      { readonly [At in keyof O]: string }
    >,
  ) => Promise<number>;
}

export interface Command extends Omit<Definition<Flags, readonly Operand[]>, "run"> {
  readonly operands: readonly Operand[];
  readonly settings: readonly SettingName[];
  readonly run: (input: Input) => Promise<number>;
}

/**
 * Makes a row of the table of commands. It does not compile if `run` uses a flag or an operand that
 * the row does not declare.
 */
export function command<const F extends Flags, const O extends readonly Operand[] = readonly []>(
  definition: Definition<F, O>,
): Command {
  return { operands: [], settings: storeSettings, ...definition } as Command;
}

/** The settings of a command that works on one store. */
export const storeSettings: readonly SettingName[] = ["configFile", "environment", "databaseUrl"];

/** The same for a command that creates a missing store. */
export const creatingSettings: readonly SettingName[] = [...storeSettings, "backupFolder"];

/** The flags of a command that can print JSON. */
export interface Json {
  readonly json: boolean;
}

export const json = { description: "Print the result as JSON." } as const;
