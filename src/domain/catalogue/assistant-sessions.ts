import type { LedgerRow } from "../ledger/ledger.ts";
import { InvalidField } from "../running/errors.ts";
import { randomBase62 } from "../values/base62.ts";
import { dayMs } from "../values/times.ts";

/**
 * The session of an assistant: changes that can be undone together. Its id says which key began it and
 * when, so that every instance knows it without keeping anything. The reasons of its changes end with it.
 */

export const sessionPattern = "^ses_[0-9A-Za-z]{1,32}_[0-9a-z]{1,9}_[0-9A-Za-z]{6}$";
export const sessionRule = "must be the id of a session of an assistant, which starts with ses_";

/** Makes the id of a session that begins now. */
export function beginSession(keyId: string, now: number): string {
  return `ses_${keyId.replace("key_", "")}_${now.toString(36)}_${randomBase62(4, 6)}`;
}

/** The id of the key that began a session. Undefined if the text is not the id of one. */
export function keyOfSession(session: string): string | undefined {
  return new RegExp(sessionPattern).test(session) ? `key_${session.split("_")[1]}` : undefined;
}

/** The clock of another instance or of the database may have been behind by less than this. */
const clockErrorMs = dayMs;

const namedStart = (session: string) => Number.parseInt(session.split("_")[2]!, 36);

/** All changes of a session are at this time or later. */
export function startOf(session: string): number {
  if (keyOfSession(session) === undefined) throw new InvalidField("session", sessionRule);
  return Math.max(0, namedStart(session) - clockErrorMs);
}

/** Whether a session says that it began before its key was created. No service has made such an id. */
export function isOlderThan(session: string, createdAt: number): boolean {
  return namedStart(session) < createdAt - clockErrorMs;
}

export const markReason = (reason: string, session: string) => `${reason} [${session}]`;

/** The session that the reason of a row ends with. */
export const sessionOfRow = ({ reason }: Pick<LedgerRow, "reason">) =>
  /\[(ses_\w+)\]$/.exec(reason ?? "")?.[1];

/** Another key cannot add rows to a session, whatever reasons it gives. */
export function isOfSession({ keyId, reason }: LedgerRow, session: string): boolean {
  return reason?.endsWith(` [${session}]`) === true && keyId === keyOfSession(session);
}
