/**
 * Loaded before the service in a process whose clock is to be wrong: everything in that process
 * that asks what time it is gets another answer.
 */
const { now } = Date;
const shiftMs = Number(process.env.SHIFT_MS ?? 0);
Date.now = () => now() + shiftMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, shape) =>
    Reflect.construct(target, given.length === 0 ? [target.now()] : given, shape),
});
