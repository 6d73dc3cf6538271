import { quoted } from "../../domain/values/shell.ts";
import { type Choice, type CommandWords, choicesOf, type Value, valueCases } from "./words.ts";

/** A completion script for zsh, for a file in $fpath or for `source`. */
export function zshScript(commands: readonly CommandWords[]): string {
  const { first, groups } = choicesOf(commands);
  const cases = commands.map(({ name, flags, operands }) => {
    const choices = flags.map(({ flag, description }) => ({ word: flag, description }));
    return `    ${quoted(name)})
      case $previous in
${valueCases(flags, completing)}
      esac
      if [[ $current == -* ]]; then
        choices=(${listed(choices)})
        _describe -o 'flag' choices
      ${operands[0] ? `else ${completing(operands[0])}\n      ` : ""}fi ;;`;
  });
  const groupCases = [...groups].map(
    ([group, words]) => `    ${group}) choices=(${listed(words)}) ;;`,
  );
  return `#compdef petstore
# Completion of petstore for zsh: source <(petstore completion zsh)

_petstore() {
  local current=\${words[CURRENT]} previous=\${words[CURRENT-1]} at=2 command
  local -a choices
  # --flag=value is one word.
  if [[ $current == --*=* ]]; then
    previous=\${current%%=*}
    compset -P '*='
    current=""
  fi
  [[ \${words[2]} == help ]] && (( CURRENT > 2 )) && at=3
  if (( CURRENT == at )); then
    choices=(${listed(first)})
    _describe 'command' choices
    return
  fi
  command=\${words[at]}
  case $command in
${groupCases.join("\n")}
  esac
  if (( \${#choices} )); then
    if (( CURRENT == at + 1 )); then _describe 'command' choices; return; fi
    command="$command \${words[at+1]}"
  fi
  [[ \${words[2]} == help ]] && return
  case $command in
${cases.join("\n")}
  esac
}

if [[ \${funcstack[1]} == _petstore ]]; then _petstore "$@"; else compdef _petstore petstore; fi
`;
}

function completing(value: Value): string {
  if (value.kind === "words") return `compadd -- ${value.words.join(" ")}`;
  return value.kind === "file" ? "_files" : ":";
}

/** Words with descriptions, as _describe reads them. */
function listed(choices: readonly Choice[]): string {
  return choices
    .map(({ word, description }) => quoted(`${word.replaceAll(":", "\\:")}:${description}`))
    .join(" ");
}
