import { test } from "bun:test";
import { crashAgainAndAgain, enterLoadedPlace } from "./support/crashes.ts";

const rounds = 100;

test(`no acknowledged update is lost over ${rounds} kills in the middle of parallel updates`, async () => {
  const loaded = await enterLoadedPlace();
  try {
    await crashAgainAndAgain(loaded, rounds);
  } finally {
    await loaded.place.leave();
  }
}, 900_000);
