const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Long work is cut into slices and awaits this between
 * them, so that requests are answered in the meantime. Only one waiter goes on per turn: several
 * long jobs at once do not add up to one long turn.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(wakeOne);
  });
}

function wakeOne(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(wakeOne);
}
