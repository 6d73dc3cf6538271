/** Clients wait here until they may go on. */
export function createGate() {
  let waiting = 0;
  let opened = Promise.withResolvers<void>();
  let arrived = Promise.withResolvers<void>();
  return {
    open: () => opened.resolve(),
    close() {
      opened = Promise.withResolvers();
    },
    async pass(): Promise<void> {
      waiting += 1;
      arrived.resolve();
      await opened.promise;
      waiting -= 1;
    },
    /** Resolves when so many clients wait. */
    async hasStopped(clients: number): Promise<void> {
      while (waiting < clients) {
        arrived = Promise.withResolvers();
        await arrived.promise;
      }
    },
  };
}

export type Gate = ReturnType<typeof createGate>;
