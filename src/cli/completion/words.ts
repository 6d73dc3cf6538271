import { settings } from "../../settings.ts";
import type { Command, Flag } from "../command.ts";
import { plain } from "../paragraphs.ts";

/** What can be typed where, for the scripts of all shells. */

/** What a flag or an operand can be: one of some words, a file, or anything. */
export type Value =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" }
  | { readonly kind: "any" };

type FlagWord = ReturnType<typeof flagWord>;
export type CommandWords = ReturnType<typeof wordsOf>[number];

export interface Choice {
  readonly word: string;
  readonly description: string;
}

export function wordsOf(commands: readonly Command[]) {
  return commands.map(({ name, summary, flags, operands, settings: names }) => ({
    name,
    description: plain(summary),
    flags: [
      ...Object.entries(flags).map(([flag, definition]) => flagWord(flag, definition)),
      ...names.map((setting) => flagWord(settings[setting].flag, settings[setting])),
      flagWord("help", { description: "Print help." }),
    ],
    operands: operands.map((operand) => possibleValue(operand.name)),
  }));
}

/** The value is undefined for a flag that takes none. */
function flagWord(name: string, { description, placeholder }: Flag) {
  const value = placeholder === undefined ? undefined : possibleValue(placeholder);
  return { flag: `--${name}`, description: plain(description), value };
}

/** The first words of all commands, and the second words of each group. */
export function choicesOf(commands: readonly CommandWords[]) {
  const groups = new Map<string, Choice[]>();
  const first: Choice[] = [];
  for (const { name, description } of commands) {
    const [group, word] = name.split(" ") as [string, string | undefined];
    if (word === undefined) first.push({ word: group, description });
    else {
      if (!groups.has(group)) first.push({ word: group, description: `Commands for ${group}.` });
      groups.set(group, [...(groups.get(group) ?? []), { word, description }]);
    }
  }
  first.push({ word: "help", description: "Prints help." });
  return { first, groups };
}

/** The cases of a shell script that complete the values of flags. Those with the same action share one. */
export function valueCases(
  flags: readonly FlagWord[],
  completing: (value: Value) => string,
): string {
  const byAction = Map.groupBy(flags, ({ value }) => value && completing(value));
  return [...byAction]
    .filter(([action]) => action !== undefined)
    .map(([action, same]) => {
      const names = same.map(({ flag }) => flag).join("|");
      return `        ${names}) ${action}; return ;;`;
    })
    .join("\n");
}

/** `a|b` in help names the words that are possible. */
function possibleValue(placeholder: string): Value {
  if (placeholder.includes("|")) return { kind: "words", words: placeholder.split("|") };
  return { kind: placeholder === "FILE" || placeholder === "FOLDER" ? "file" : "any" };
}
