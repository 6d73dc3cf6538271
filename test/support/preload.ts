// test/run.ts loads this into every process of tests, before the first file.

// Bun's test runner uses a whole core while only timers that keep no process alive are left. This one prevents that.
setInterval(() => {}, 60_000);

const StartedWorker = Worker;
/** Threads whose store is closed. */
const idle: Worker[] = [];

/**
 * The thread that writes a SQLite store loads some 70 modules, which takes 45 ms. The tests of a process open
 * hundreds of stores, so the thread of a closed store opens the next one.
 */
function ReusedWorker(url: string | URL, options?: WorkerOptions): Partial<Worker> {
  if (!String(url).endsWith("/writer-worker.ts")) return new StartedWorker(url, options);
  const thread = idle.pop() ?? new StartedWorker(url, options);
  let isOpen = true;
  return {
    // What is sent after the end must not reach the next store.
    postMessage(message: unknown) {
      if (isOpen) thread.postMessage(message);
    },
    set onmessage(receive: Worker["onmessage"]) {
      thread.onmessage = receive;
    },
    set onerror(receive: Worker["onerror"]) {
      thread.onerror = receive;
    },
    terminate() {
      isOpen = false;
      idle.push(thread);
    },
  };
}
globalThis.Worker = ReusedWorker as unknown as typeof Worker;
