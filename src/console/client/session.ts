import { computed, effect, signal, untracked } from "@preact/signals";
import { ApiError, messageOf, onSessionEnd, request } from "./api.ts";
import type { OperatorRole, Session } from "./types.ts";

export type SessionState =
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "out"; readonly note: string | undefined }
  | { readonly kind: "in"; readonly session: Session };

export const session = signal<SessionState>({ kind: "unknown" });

/** Asks the service whether this browser has a session. */
export async function restoreSession(): Promise<void> {
  try {
    session.value = { kind: "in", session: await request<Session>("/session") };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      session.value = { kind: "out", note: undefined };
    } else {
      session.value = { kind: "failed", message: messageOf(error) };
    }
  }
}

/** Exchanges an operator key for a session. The key is sent once and kept nowhere. */
export async function signIn(key: string): Promise<void> {
  const started = await request<Session>("/session", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
  });
  session.value = { kind: "in", session: started };
}

/** Ends the session. If the service cannot be reached, the person stays signed in and is told so. */
export async function signOut(): Promise<void> {
  await request("/session", { method: "DELETE" });
  session.value = { kind: "out", note: "You have signed out." };
}

onSessionEnd(() => {
  if (session.value.kind !== "in") return;
  session.value = { kind: "out", note: "Your session has ended. Sign in again to continue." };
});

/** The roles. Each can do everything that those before it can. */
const roles: readonly OperatorRole[] = ["viewer", "clerk", "owner"];

/** The operator who is signed in. */
export const operator = computed(() =>
  session.value.kind === "in" ? session.value.session.operator : undefined,
);

/** Whether the person who is signed in has this role or one that can do more. */
export function may(least: OperatorRole): boolean {
  return operator.value !== undefined && roles.indexOf(operator.value.role) >= roles.indexOf(least);
}

/** True for the key with which this person signed in. */
export const isOwnKey = (id: string) => operator.value?.id === id;

/** Calls the handler when the session has ended, so that nothing is left for the next person. */
export function onSignOut(handler: () => void): void {
  effect(() => {
    if (session.value.kind === "out") untracked(handler);
  });
}
