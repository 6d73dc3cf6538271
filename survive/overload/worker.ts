import { join } from "node:path";
import { start, stop } from "../../bench/processes.ts";

/** A process that does what it is sent, one order at a time. Its work is not counted for the good clients. */
export interface Worker<Order, Report> {
  send(order: Order): Promise<Report>;
  stop(): Promise<void>;
}

/** `file` is a module of this folder that answers each message with one message. */
export function startWorker<Order, Report>(file: string): Worker<Order, Report> {
  let report = Promise.withResolvers<Report>();
  report.promise.catch(() => {});
  const child = start({
    command: [process.execPath, join(import.meta.dir, file)],
    onMessage: (message) => report.resolve(message as Report),
  });
  void child.exited.then(() => report.reject(new Error(`${file} ended: ${child.stderrTail()}`)));
  return {
    send(order) {
      report = Promise.withResolvers();
      child.process.send(order);
      return report.promise;
    },
    stop: () => stop(child),
  };
}
