import { afterEach, beforeEach, test } from "bun:test";
import { crashRepeatedly, enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";

let loaded: LoadedPlace;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
});
afterEach(() => loaded.place.leave());

test("a kill during parallel updates loses no acknowledged update", async () => {
  await crashRepeatedly(loaded, 1);
});
