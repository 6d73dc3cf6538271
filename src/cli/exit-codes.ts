/** What a process that a signal ends returns: 128 and the number of the signal. */
export const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 } as const;

export function exitCodeOf(signal: keyof typeof signalNumbers): number {
  return 128 + signalNumbers[signal];
}

/** Every exit code and its meaning, for help and for docs/commands.md. */
export const exitCodes: readonly (readonly [code: string, meaning: string])[] = [
  [
    "0",
    "The command did what it was asked to. A service, or ledger --follow, was stopped by a signal.",
  ],
  ["1", "The command ran and found a fault, or refused: verify, doctor, drill, undo."],
  ["2", "The command line was wrong, or the command failed. One line on standard error says why."],
  [
    "129, 130, 143",
    "A hangup, Ctrl-C or a request to terminate ended the command (128 and the number of the signal).",
  ],
  ["137", "The process was killed by the system or by an operator."],
  [
    "141",
    "The reader of a pipe, such as head, stopped reading before the command had printed all.",
  ],
];
