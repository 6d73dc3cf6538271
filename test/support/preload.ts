// test/run.ts loads this into every process of tests, before the first file.

// While nothing but timers that keep no process alive are left, Bun's test runner asks for the time again and again
// instead of sleeping. Waiting for such a timer then takes a whole processor core.
setInterval(() => {}, 60_000);
