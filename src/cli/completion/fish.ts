import { type CommandWords, choicesOf, type Value } from "./words.ts";

/** A completion script for fish, for a file in its folder completions or for `source`. */
export function fishScript(commands: readonly CommandWords[]): string {
  const { first, groups } = choicesOf(commands);
  const lines = [
    ...first.map(({ word, description }) => row("", `-a ${word}`, description)),
    row("", "-l version", "Print the version."),
    ...[...groups].flatMap(([group, words]) =>
      words.map(({ word, description }) => row(group, `-a ${word}`, description)),
    ),
    ...commands.flatMap(({ name, flags, operands }) => [
      ...flags.map(({ flag, description, value }) =>
        row(name, `-l ${flag.slice(2)}${valueOption(value)}`, description),
      ),
      ...operands.slice(0, 1).flatMap((operand) => operandRows(name, operand)),
    ]),
  ];
  return `# Completion of petstore for fish: petstore completion fish | source

# Prints the command so far: nothing, its first word, or its name.
function __petstore_command
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l words
    for word in $typed
        string match -q -- '-*' $word; or set -a words $word
    end
    test "$words[1]" = help; and set -e words[1]
    if contains -- "$words[1]" ${[...groups.keys()].join(" ")}
        echo (string join ' ' $words[1..2])
    else
        echo $words[1]
    end
end

function __petstore_is
    set -l command (__petstore_command)
    test "$command" = "$argv[1]"
end

complete -c petstore -f
${lines.join("\n")}
`;
}

function row(command: string, option: string, description: string): string {
  const condition = quoted(`__petstore_is "${command}"`);
  return `complete -c petstore -n ${condition} ${option} -d ${quoted(description)}`;
}

function valueOption(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value.kind === "words") return ` -x -a ${quoted(value.words.join(" "))}`;
  return value.kind === "file" ? " -r -F" : " -x";
}

function operandRows(command: string, value: Value): readonly string[] {
  const condition = quoted(`__petstore_is "${command}"`);
  if (value.kind === "file") return [`complete -c petstore -n ${condition} -F`];
  if (value.kind === "any") return [];
  return [`complete -c petstore -n ${condition} -a ${quoted(value.words.join(" "))}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
