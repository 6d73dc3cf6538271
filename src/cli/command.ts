import type { SettingName } from "../settings.ts";

/** A flag that only some commands have. The settings are flags of every command. */
export interface Flag {
  /** What the value is called in help. A flag without a placeholder takes no value. */
  readonly placeholder?: string;
  readonly required?: boolean;
  /** Whether the flag can be given several times. Its value then has one line each time. */
  readonly repeatable?: true;
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
  /** An operand that is not given is an empty text. */
  readonly isOptional?: true;
  readonly description: string;
}

type FlagValue<F extends Flag> = F extends { placeholder: string }
  ? F extends { required: true }
    ? string
    : string | undefined
  : boolean;

export type FlagValues<F extends Flags> = { readonly [Name in keyof F]: FlagValue<F[Name]> };

/** What a user typed after the name of a command. */
export interface Input<Values = unknown, Operands = unknown> {
  readonly flags: Values;
  readonly operands: Operands;
  /** The settings that were given as flags, by flag. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A row of the table of commands. `Given` is what `run` gets besides what was typed. */
export interface Definition<F extends Flags, O extends readonly Operand[], Given = unknown> {
  /** One or two words. */
  readonly name: string;
  /** A sentence for help and for docs/commands.md. */
  readonly summary: string;
  /** One or two command lines that work as they are, apart from the names in them. */
  readonly examples: readonly string[];
  /** By default, none. */
  readonly operands?: O;
  /** By default, none. */
  readonly flags?: F;
  /**
   * Set for a command that changes a store. If it is interrupted before that, it says so. `record` is for
   * one that only leaves a record of its run. All others, and every dry run, open a store only for reading.
   */
  readonly changes?: true | "record";
  /** The settings that affect this command, for its help. By default, those of a store. */
  readonly settings?: readonly SettingName[];
  /** Returns the exit code. A command that returns nothing has succeeded. */
  readonly run: (
    input: Given & Input<FlagValues<F>, { readonly [At in keyof O]: string }>,
    // biome-ignore lint/suspicious/noConfusingVoidType: most commands end without a return
  ) => Promise<number | void>;
}

/** A command that has no topic yet. */
export interface UnlistedCommand
  extends Omit<Required<Definition<Flags, readonly Operand[]>>, "changes" | "run"> {
  readonly changes?: true | "record";
  readonly run: (input: Input) => Promise<number>;
}

export interface Command extends UnlistedCommand {
  readonly topic: Topic;
}

/** Makes a command. It does not compile if `run` uses a flag or an operand that is not declared. */
export function command<
  const F extends Flags = Readonly<Record<never, Flag>>,
  const O extends readonly Operand[] = readonly [],
>({ run, ...definition }: Definition<F, O>): UnlistedCommand {
  const defaults = { operands: [], flags: {}, settings: storeSettings };
  // The arguments were checked against the declarations.
  const checked = run as Definition<Flags, readonly Operand[]>["run"];
  return {
    ...defaults,
    ...definition,
    run: async (input) => (await checked(input as Parameters<typeof checked>[0])) ?? 0,
  };
}

/** The settings of a command that works on one store. */
export const storeSettings: readonly SettingName[] = ["configFile", "environment", "databaseUrl"];

/** The same for a command that creates a missing store. */
export const creatingSettings: readonly SettingName[] = [...storeSettings, "backupFolder"];

/** The values of the flags of a command that can only print JSON. */
export interface Json {
  readonly json: boolean;
}

export const json = { description: "Print the result as JSON." } as const;
export const jsonLines = { description: "Print one JSON object per line." } as const;
