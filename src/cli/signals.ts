/**
 * `timeout` and `npm` pass on a signal that the whole group of processes has received already. A signal
 * this soon after another one is the same one.
 */
const repeatMs = 250;

/** Returns a function to call with each signal. It returns whether it is the first, a repetition of it or a later one. */
export function createSignalCounter(): () => "first" | "repeated" | "later" {
  let firstAt: number | undefined;
  return () => {
    const now = performance.now();
    if (firstAt !== undefined) return now - firstAt < repeatMs ? "repeated" : "later";
    firstAt = now;
    return "first";
  };
}
