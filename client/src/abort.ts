const callbacksBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts; returns a function that removes the callback. All callbacks of
 * a signal share one listener, because Node reports a leak when a signal has more than ten.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = callbacksBySignal.get(signal) ?? listen(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  callbacksBySignal.set(signal, callbacks);
  signal.addEventListener("abort", () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
}
