import type { Store } from "../../../src/domain/store.ts";

/** The open stores of a test. What the test does not close is closed at its end. */
export function createOpenedStores() {
  const opened = new Set<Store>();
  return {
    get isEmpty() {
      return opened.size === 0;
    },
    add(store: Store): Store {
      opened.add(store);
      return {
        ...store,
        close: () => {
          opened.delete(store);
          return store.close();
        },
      };
    },
    async closeAll(): Promise<void> {
      await Promise.all([...opened].map((store) => store.close()));
    },
  };
}
