import { ServiceError } from "../domain/running/errors.ts";

/** The one line that a command prints if it fails with this error. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // Errors of the service are one line, whatever they quote. Others may have many.
  return error instanceof ServiceError ? asFragment(message) : message.split("\n")[0]!;
}

/** The domain writes sentences, and the command line prints fragments: "petstore: there is no …". */
function asFragment(message: string): string {
  const isOneSentence = /^[A-Z][a-z]* .*\.$/s.test(message) && !message.includes(". ");
  return isOneSentence ? message[0]!.toLowerCase() + message.slice(1, -1) : message;
}
