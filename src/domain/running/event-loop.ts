const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop. Long work awaits this between its slices, so that
 * requests are served in the meantime. Only one caller continues per turn, so several long jobs do
 * not add up to one long turn.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });
}

function resumeOne(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(resumeOne);
}
