/** The exit code of a process that a signal ends is 128 plus this number. */
export const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 } as const;

export function exitCodeOf(signal: keyof typeof signalNumbers): number {
  return 128 + signalNumbers[signal];
}

/** Every exit code and its meaning, for help and for docs/commands.md. */
export const exitCodes: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "Success. Also a service, or a command that follows one, that a signal has stopped."],
  [
    "1",
    "The command ran, and something is wrong: it found a fault (`verify`, `drill`, `doctor`, `config`, `migrate-store`, `restore`), the service is not ready (`health`), a receiver did not confirm a message (`webhooks test`, `webhooks resend`), or the pet was changed since (`undo`). Also: an unexpected error ended the process, or a second signal ended a stopping service.",
  ],
  [
    "2",
    "The command line was wrong, or the command failed. Standard error has one line with the reason.",
  ],
  [
    "129, 130, 143",
    "A signal ended the command: the terminal was closed, Ctrl-C, or `kill`. The code is 128 plus the number of the signal.",
  ],
  ["137", "The system killed the process."],
  ["141", "The reader of a pipe, such as `head`, stopped reading before everything was printed."],
];
