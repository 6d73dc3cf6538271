import { beforeAll, expect, test } from "bun:test";
import type { Unit } from "../../src/domain/ledger/ledger.ts";
import { rowsExaminedMax } from "../../src/domain/values/bounds.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { nextOf, pagesFrom, seqsOf, upTo } from "../support/history.ts";
import { expectError } from "../support/responses.ts";
import { setUnit } from "../support/units.ts";

onEveryEngine("filters of the history", (service) => {
  /** Commits units and returns the seq of the last row. */
  async function commit(...units: readonly Unit[]): Promise<number> {
    await service().store.inventory.commit(units);
    return (await service().store.history.readTip()).seq;
  }
  let key: string;
  beforeAll(async () => {
    key = (await service().issueKey()).text;
  });
  const get = async (path: string) => service().call("GET", path, { key });
  const tip = async () => (await service().store.history.readTip()).seq;

  test("[history.filters] cause and key select changes, and the links keep every filter", async () => {
    await service().addPets({ petId: 5_001n });
    const start = await tip();
    const { id, text } = await service().issueKey();
    const [parts, count] = [5, 2_100];
    for (let part = 0; part < parts; part++) {
      await commit(...upTo(count).map((quantity) => setUnit(5_001n, quantity)));
    }
    await commit(
      setUnit(5_001n, 1, { keyId: id }),
      setUnit(5_001n, 2, { cause: "undo" }),
      setUnit(5_001n, 3, { cause: "undo", keyId: id }),
    );
    const first = start + parts * count + 1;
    const pages = await pagesFrom(service(), text, `/changes?key=${id}&limit=1&after=${start}`);
    expect(pages.map(seqsOf)).toEqual([[], [first], [first + 2]]);
    const links = pages.slice(0, 2).map((page) => nextOf(page)!);
    for (const link of links) expect(link).toContain(`?key=${id}&limit=1&after=`);
    expect(links[0]).toEndWith(`after=${start + rowsExaminedMax}`);
    const undone = await pagesFrom(service(), text, `/changes?cause=undo&after=${start}`);
    expect(undone.flatMap(seqsOf)).toEqual([first + 1, first + 2]);
    const both = await pagesFrom(service(), text, `/changes?cause=undo&key=${id}`);
    expect(both.flatMap(seqsOf)).toEqual([first + 2]);
    const between = `/changes?cause=undo&after=${first}&before=${first + 2}`;
    expect((await pagesFrom(service(), text, between)).flatMap(seqsOf)).toEqual([first + 1]);
    const nobody = await pagesFrom(service(), text, "/changes?key=key_nobody");
    expect(nobody.flatMap(seqsOf)).toEqual([]);
    expect(nobody.length).toBe(Math.ceil((await tip()) / rowsExaminedMax));
  });

  test("[history.times] since is inclusive and until is exclusive, also for changes at the same time", async () => {
    await service().addPets({ petId: 6_001n }, { petId: 6_002n });
    const { clock } = service();
    clock.advance(3_600_000);
    const start = clock.now();
    const first = (await tip()) + 1;
    const times: number[] = [];
    for (const [advance, rows] of [
      [0, 2],
      [5, 3],
      [-60, 1],
      [100, 2],
    ] as const) {
      clock.advance(advance);
      const at = Math.max(clock.now(), times.at(-1) ?? 0);
      await commit(...upTo(rows).map((quantity) => setUnit(6_001n, quantity)));
      times.push(...upTo(rows).map(() => at));
    }
    const text = (time: number) => new Date(time).toISOString();
    const moments = [-1, 0, 1, 5, 6, 45, 46].map((ms) => start + ms);
    const seqs = async (path: string) => (await pagesFrom(service(), key, path)).flatMap(seqsOf);
    for (const since of moments) {
      // Of the ranges that end before they start, one is enough.
      for (const until of moments.filter((ms) => ms >= since || ms === start)) {
        const range = `since=${text(since)}&until=${text(until)}`;
        const expected = times.flatMap((at, row) =>
          at >= since && at < until ? [first + row] : [],
        );
        expect([range, await seqs(`/changes?${range}&limit=2`)]).toEqual([range, expected]);
        expect(await seqs(`/inventory/6001/history?${range}`)).toEqual(expected.toReversed());
        expect(await seqs(`/changes?${range}&cause=api`)).toEqual(expected);
      }
    }
    const offset = text(start).replace("Z", "%2B00:00");
    expect(await seqs(`/changes?since=${offset}`)).toEqual(upTo(first + 7, first));
    // A microsecond after the first two changes, and no time after them.
    const [later, same] = ["001Z", "000Z"].map((tail) => text(start).replace("Z", tail));
    expect(await seqs(`/changes?since=${later}`)).toEqual(upTo(first + 7, first + 2));
    expect(await seqs(`/changes?since=${same}&until=${later}`)).toEqual([first, first + 1]);
    expect(await seqs("/changes?since=2126-01-01")).toEqual([]);
    expect((await seqs("/changes?limit=1000&until=2126-01-01")).at(-1)).toBe(first + 7);
    expect(await seqs("/changes?until=0001-01-01")).toEqual([]);
  });

  test("[history.parameters] invalid, repeated and unknown parameters get 400", async () => {
    await service().addPets({ petId: 9_001n });
    const shared = [
      ...["limit=0", "limit=1001", "limit=", "limit=1&limit=1", "after=-1", "after=01", "after="],
      ...["after=1e3", "after=9007199254740992", "after=1&after=1", "since=", "since=yesterday"],
      ...["since=2026-11-15T10:00:00", "since=2026-02-30", "since=2026-11-15T10:00:00+01:00"],
      ...["until=1794744000000", "until=2026-11-15&until=2026-11-16"],
      ...["before=-1", "before=x", "before=1&before=2"],
    ];
    const own = {
      "/changes": ["cause=", "cause=API", "cause=api&cause=undo", "key=", "key=key_", "key=key_é"],
      "/inventory/9001/history": [],
    };
    for (const [path, queries] of Object.entries(own)) {
      for (const query of [...shared, ...queries]) {
        const response = await get(`${path}?${query}`);
        expectError(response, "invalid_request");
        const [name] = query.split("=");
        expect((response.json as { message: string }).message).toContain(`'${name}'`);
      }
      expectError(await get(`${path}?limit=1&color=blue`), "invalid_request");
      const extreme = `${path}?limit=1&after=9007199254740991&before=0`;
      expect((await get(extreme)).text).toBe("[]");
    }
    expectError(await get("/changes/head?limit=1"), "invalid_request");
    expectError(await get("/inventory/01/history"), "invalid_request");
  });
});
