/**
 * Loaded before the service in a process whose clock has to be wrong. Everything in that process
 * reads the shifted time.
 */
const { now } = Date;
const shiftMs = Number(process.env.SHIFT_MS ?? 0);
Date.now = () => now() + shiftMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, given, shape) =>
    Reflect.construct(target, given.length === 0 ? [target.now()] : given, shape),
});
