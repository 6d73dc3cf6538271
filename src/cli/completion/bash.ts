import { type CommandWords, choicesOf, type Value, valueCases } from "./words.ts";

/** A completion script for bash 3.2 and later. It needs no other package. */
export function bashScript(commands: readonly CommandWords[]): string {
  const { first, groups } = choicesOf(commands);
  const cases = commands.map(({ name, flags, operands }) => {
    return `    "${name}")
      case $previous in
${valueCases(flags, completing)}
      esac
      if [[ $current == -* ]]; then _petstore_words "${flags.map(({ flag }) => flag).join(" ")}"
      ${operands[0] ? `else ${completing(operands[0])}\n      ` : ""}fi ;;`;
  });
  const groupCases = [...groups].map(
    ([group, words]) => `    ${group}) subcommands="${words.map(({ word }) => word).join(" ")}" ;;`,
  );
  return `# Completion of petstore for bash: source <(petstore completion bash)

_petstore_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }

_petstore_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}

_petstore() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at=1
  # Bash splits --flag=value at the sign.
  if [[ $current == = ]]; then current=""
  elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  [[ \${COMP_WORDS[1]} == help ]] && (( COMP_CWORD > 1 )) && at=2
  if (( COMP_CWORD == at )); then
    _petstore_words "${first.map(({ word }) => word).join(" ")} --help --version"
    return
  fi
  local command=\${COMP_WORDS[at]} subcommands=""
  case $command in
${groupCases.join("\n")}
  esac
  if [[ -n $subcommands ]]; then
    if (( COMP_CWORD == at + 1 )); then _petstore_words "$subcommands"; return; fi
    command="$command \${COMP_WORDS[at+1]}"
  fi
  [[ \${COMP_WORDS[1]} == help ]] && return
  case $command in
${cases.join("\n")}
  esac
}

complete -F _petstore petstore
`;
}

function completing(value: Value): string {
  if (value.kind === "words") return `_petstore_words "${value.words.join(" ")}"`;
  return value.kind === "file" ? "_petstore_files" : ":";
}
