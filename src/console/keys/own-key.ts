import { session } from "../client/session.ts";

/** True for the key with which this person signed in. */
export function isOwnKey(id: string): boolean {
  const { value } = session;
  return value.kind === "in" && value.session.operator.id === id;
}
