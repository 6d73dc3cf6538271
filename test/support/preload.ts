// test/run.ts loads this into every process of tests, before the first file.

// While nothing but timers that keep no process alive are left, Bun's test runner asks for the time again and again
// instead of sleeping. Waiting for such a timer then takes a whole processor core.
setInterval(() => {}, 60_000);

const StartedWorker = Worker;
/** Threads whose store is closed. */
const idle: Worker[] = [];

/**
 * The thread that writes a SQLite store loads some 70 modules, which takes 45 ms. The tests of a process open
 * hundreds of stores, so the thread of a closed store opens the next one.
 */
function ReusedWorker(url: string | URL, options?: WorkerOptions): Worker {
  if (!String(url).endsWith("/writer-worker.ts")) return new StartedWorker(url, options);
  const worker = idle.pop() ?? new StartedWorker(url, options);
  worker.terminate = () => void idle.push(worker);
  return worker;
}
globalThis.Worker = ReusedWorker as unknown as typeof Worker;
