import type { HeadWatcher } from "../ledger/head.ts";
import type { Store } from "../store.ts";

/** Returns the same store. Changes to keys and bans made through it are announced at once. */
export function announceKeyChanges(store: Store, watcher: HeadWatcher): Store {
  const announced =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const result = await write(...args);
      watcher.keysWritten();
      return result;
    };
  const { keys, usage, sessions } = store;
  return {
    ...store,
    keys: {
      ...keys,
      addKey: announced(keys.addKey),
      changeKey: announced(keys.changeKey),
      addSecret: announced(keys.addSecret),
      revokeKey: announced(keys.revokeKey),
    },
    sessions: { ...sessions, removeSession: announced(sessions.removeSession) },
    usage: { ...usage, liftBan: announced(usage.liftBan) },
  };
}
