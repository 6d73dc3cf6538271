import { invalidRequest } from "../../domain/running/errors.ts";
import type { Command } from "../command.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { wordsOf } from "./words.ts";
import { zshScript } from "./zsh.ts";

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof scripts;

export const shells = Object.keys(scripts) as readonly Shell[];

/** The script that completes these commands in a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return scripts[shell](wordsOf(commands));
}

/** Prints the completion script of a shell. */
export async function printCompletion(name: string, commands: readonly Command[]): Promise<void> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) {
    const rule = `must be one of ${shells.join(", ")}, not '${name}'`;
    throw invalidRequest(`SHELL ${rule}`);
  }
  process.stdout.write(completionScript(shell, commands));
}
