const followers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when the signal aborts; the function it returns ends that. However many calls share a
 * signal, it gets one listener: Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = followers.get(signal) ?? follow(signal);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}

function follow(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  followers.set(signal, callbacks);
  signal.addEventListener("abort", () => {
    for (const callback of callbacks) callback();
  });
  return callbacks;
}
