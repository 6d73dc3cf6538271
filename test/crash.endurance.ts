import { test } from "bun:test";
import { crashRepeatedly, enterLoadedPlace } from "./support/crashes.ts";

const rounds = 100;

test(`${rounds} kills during parallel updates lose no acknowledged update`, async () => {
  const loaded = await enterLoadedPlace();
  try {
    await crashRepeatedly(loaded, rounds);
  } finally {
    await loaded.place.leave();
  }
}, 900_000);
