import { expect, test } from "bun:test";
import { rowsExaminedMax } from "../../src/domain/history.ts";
import type { Unit } from "../../src/domain/ledger.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { expectError } from "../support/responses.ts";
import type { TestResponse, TestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";

interface Row {
  readonly seq: number;
  readonly before: { readonly quantity: number } | null;
  readonly after: { readonly quantity: number } | null;
  readonly at: string;
}

const rowsOf = (response: TestResponse) => response.json as readonly Row[];
const seqsOf = (response: TestResponse) => rowsOf(response).map(({ seq }) => seq);

function nextOf(response: TestResponse): string | undefined {
  const link = response.headers.get("Link");
  if (link === null) return undefined;
  const next = /^<(\/v1\/[^>]+)>; rel="next"$/.exec(link);
  expect([link, next !== null]).toEqual([link, true]);
  return `~${next![1]}`;
}

/** Follows the links from a first page. Every page must be 200. */
async function pagesFrom(
  service: TestService,
  key: string,
  path: string,
  afterEach: () => Promise<unknown> = async () => {},
): Promise<TestResponse[]> {
  const pages: TestResponse[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await service.call("GET", next, { key });
    expect(page.status).toBe(200);
    pages.push(page);
    next = nextOf(page);
    await afterEach();
  }
  return pages;
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

onEveryEngine("history", (service) => {
  /** Commits units and returns the seq of the last row. */
  async function commit(...units: readonly Unit[]): Promise<number> {
    await service().store.inventory.commit(units);
    return (await service().store.history.readTip()).seq;
  }
  const key = async () => (await service().issueKey()).text;
  const get = async (path: string) => service().call("GET", path, { key: await key() });
  const tip = async () => (await service().store.history.readTip()).seq;

  test("[history.row] a change has ten fields, exact ids and the name of its key", async () => {
    const before = await tip();
    const petId = 9223372036854775807n;
    await service().addPets({ petId, quantity: 3, status: "pending" });
    const { id, text } = await service().issueKey({ name: 'Zoë\'s "till" 🐢' });
    service().clock.advance(1_234);
    const update = await service().call("PATCH", `/inventory/${petId}`, {
      key: text,
      body: '{"quantity":9007199254740991}',
    });
    await commit(
      setUnit(petId, 0, { keyId: "key_gone", requestId: "req_1", reason: 'Über "alles"\\🐕' }),
    );
    const at = new Date(service().clock.now()).toISOString();
    const name = JSON.stringify('Zoë\'s "till" 🐢');
    const rows = [
      `{"seq":${before + 1},"petId":${petId},"before":null,"after":{"quantity":3,"status":"pending"},"cause":"import","keyId":null,"keyName":null,"reason":"test","requestId":null,"at":"2026-11-15T12:00:00.000Z"}`,
      `{"seq":${before + 2},"petId":${petId},"before":{"quantity":3,"status":"pending"},"after":{"quantity":9007199254740991,"status":"pending"},"cause":"api","keyId":"${id}","keyName":${name},"reason":null,"requestId":"${update.headers.get("X-Request-Id")}","at":"${at}"}`,
      `{"seq":${before + 3},"petId":${petId},"before":{"quantity":9007199254740991,"status":"pending"},"after":{"quantity":0,"status":"pending"},"cause":"api","keyId":"key_gone","keyName":null,"reason":"Über \\"alles\\"\\\\🐕","requestId":"req_1","at":"${at}"}`,
    ];
    expect((await get(`/changes?after=${before}`)).text).toBe(`[${rows.join()}]`);
    expect((await get(`/inventory/${petId}/history`)).text).toBe(`[${rows.toReversed().join()}]`);
    const event = { key: text, headers: { Accept: "text/event-stream" } };
    const same = await service().call("GET", `/changes?after=${before}`, event);
    expect(same.text).toBe(`[${rows.join()}]`);
  });

  test("[history.changes] pages of changes have every change once and in order, also those added meanwhile", async () => {
    await service().addPets(...upTo(40).map((id) => ({ petId: BigInt(1_000 + id) })));
    const reader = await key();
    let added = 0;
    const grow = async () => {
      // The ledger stops growing before the reader reaches its end.
      if (added++ < 5) await commit(setUnit(1_001n, added), setUnit(1_002n, added));
    };
    const pages = await pagesFrom(service(), reader, "/changes?limit=7", grow);
    const last = await tip();
    expect(pages.flatMap(seqsOf)).toEqual(upTo(last));
    expect(pages.slice(0, -1).map((page) => rowsOf(page).length)).toEqual(
      pages.slice(0, -1).map(() => 7),
    );
    expect((await get(`/changes?after=${last}`)).text).toBe("[]");
    await commit(setUnit(1_001n, 77));
    const later = await get(`/changes?after=${last}`);
    expect([seqsOf(later), nextOf(later)]).toEqual([[last + 1], undefined]);
    expect(seqsOf(await get("/changes?after=9007199254740991"))).toEqual([]);
  });

  test("[history.pet] the history of a pet comes newest first, and older pages do not change", async () => {
    await service().addPets({ petId: 2_001n }, { petId: 2_002n });
    const own = [(await tip()) - 1];
    for (let quantity = 1; quantity <= 9; quantity++) {
      own.unshift((await commit(setUnit(2_001n, quantity), setUnit(2_002n, 0))) - 1);
    }
    const reader = await key();
    const grow = () => commit(setUnit(2_001n, 99), setUnit(2_002n, 99));
    const pages = await pagesFrom(service(), reader, "/inventory/2001/history?limit=4", grow);
    expect(pages.map(seqsOf)).toEqual([own.slice(0, 4), own.slice(4, 8), own.slice(8)]);
    const rows = pages.flatMap(rowsOf);
    for (const [at, row] of rows.entries()) expect(row.before).toEqual(rows[at + 1]?.after ?? null);
    expectError(await get("/inventory/2003/history"), "not_found");
  });

  test("[history.before] the history of a pet can start before any change, also one of another pet", async () => {
    await service().addPets({ petId: 3_001n }, { petId: 3_002n });
    const first = (await tip()) - 1;
    for (let round = 0; round < 3; round++)
      await commit(setUnit(3_001n, round), setUnit(3_002n, 1));
    const own = [first + 6, first + 4, first + 2, first];
    const from = async (query: string) => seqsOf(await get(`/inventory/3001/history?${query}`));
    for (let before = first - 1; before <= first + 9; before++) {
      expect(await from(`before=${before}`)).toEqual(own.filter((seq) => seq < before));
      expect(await from(`before=${before}&after=${first}`)).toEqual(
        own.filter((seq) => seq < before && seq > first),
      );
    }
    expect(await from("before=0")).toEqual([]);
    expect(await from("before=9007199254740991&limit=2")).toEqual(own.slice(0, 2));
    const bounded = `/inventory/3001/history?limit=2&after=${first}`;
    const pages = await pagesFrom(service(), await key(), bounded);
    expect(pages.map(seqsOf)).toEqual([own.slice(0, 2), [own[2]!]]);
  });

  test("[history.long] a page of a pet's history has up to 1,000 changes, and an old one is found", async () => {
    await service().addPets({ petId: 4_001n });
    const first = await tip();
    const many = upTo(2_500).map((quantity) => setUnit(4_001n, quantity));
    await commit(...many);
    const pages = await pagesFrom(service(), await key(), "/inventory/4001/history?limit=1000");
    expect(pages.map((page) => rowsOf(page).length)).toEqual([1_000, 1_000, 501]);
    expect(pages.flatMap(seqsOf)).toEqual(upTo(first + 2_500, first).toReversed());
    const old = await get(`/inventory/4001/history?before=${first + 5}&limit=1`);
    expect(seqsOf(old)).toEqual([first + 4]);
    service().clock.advance(1_000);
    const last = await commit(setUnit(4_001n, 0));
    const until = new Date(service().clock.now()).toISOString();
    const bounded = `/inventory/4001/history?before=${last}&until=${until}&limit=1`;
    expect(seqsOf(await get(bounded))).toEqual([last - 1]);
  });

  test("[history.filters] cause and key select changes, and the links keep every filter", async () => {
    await service().addPets({ petId: 5_001n });
    const start = await tip();
    const { id, text } = await service().issueKey();
    const count = 2_500;
    for (let part = 0; part < 10; part++) {
      await commit(...upTo(count).map((quantity) => setUnit(5_001n, quantity)));
    }
    await commit(
      setUnit(5_001n, 1, { keyId: id }),
      setUnit(5_001n, 2, { cause: "undo" }),
      setUnit(5_001n, 3, { cause: "undo", keyId: id }),
    );
    const first = start + 10 * count + 1;
    const pages = await pagesFrom(service(), text, `/changes?key=${id}&limit=1&after=${start}`);
    expect(pages.map(seqsOf)).toEqual([[], [], [first], [first + 2]]);
    const links = pages.slice(0, 3).map((page) => nextOf(page)!);
    for (const link of links) expect(link).toContain(`?key=${id}&limit=1&after=`);
    expect(links[0]).toEndWith(`after=${start + rowsExaminedMax}`);
    const undone = await pagesFrom(service(), text, `/changes?cause=undo&after=${start}`);
    expect(undone.flatMap(seqsOf)).toEqual([first + 1, first + 2]);
    const both = await pagesFrom(service(), text, `/changes?cause=undo&key=${id}`);
    expect(both.flatMap(seqsOf)).toEqual([first + 2]);
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
    const reader = await key();
    const seqs = async (path: string) => (await pagesFrom(service(), reader, path)).flatMap(seqsOf);
    for (const since of moments) {
      for (const until of moments) {
        const range = `since=${text(since)}&until=${text(until)}&limit=2`;
        const expected = times.flatMap((at, row) =>
          at >= since && at < until ? [first + row] : [],
        );
        expect([range, await seqs(`/changes?${range}`)]).toEqual([range, expected]);
        expect(await seqs(`/inventory/6001/history?${range}`)).toEqual(expected.toReversed());
        expect(await seqs(`/changes?${range}&cause=api`)).toEqual(expected);
      }
    }
    const offset = text(start).replace("Z", "%2B00:00");
    expect(await seqs(`/changes?since=${offset}`)).toEqual(upTo(first + 7, first));
    expect(await seqs("/changes?since=2126-01-01")).toEqual([]);
    expect((await seqs("/changes?limit=1000&until=2126-01-01")).at(-1)).toBe(first + 7);
    expect(await seqs("/changes?until=0001-01-01")).toEqual([]);
  });

  test("[history.scope] history needs history:read, which keys of earlier versions do not have", async () => {
    await service().addPets({ petId: 8_001n });
    const earlier = await service().issueKey({
      scopes: ["inventory:read", "inventory:write", "pets:read", "orders:read"],
    });
    const paths = ["/changes", "/changes/head", "/inventory/8001/history"];
    for (const path of paths) {
      const response = await service().call("GET", path, { key: earlier.text });
      expectError(response, "insufficient_scope");
      expect(response.headers.get("WWW-Authenticate")).toContain('scope="history:read"');
      expect((await get(path)).status).toBe(200);
    }
  });

  test("[history.parameters] invalid and repeated parameters get 400, and unknown ones are ignored", async () => {
    await service().addPets({ petId: 9_001n });
    const shared = [
      ...["limit=0", "limit=1001", "limit=", "limit=1&limit=1", "after=-1", "after=01", "after="],
      ...["after=1e3", "after=9007199254740992", "after=1&after=1", "since=", "since=yesterday"],
      ...["since=2026-11-15T10:00:00", "since=2026-02-30", "since=2026-11-15T10:00:00+01:00"],
      ...["until=1794744000000", "until=2026-11-15&until=2026-11-16"],
    ];
    const own = {
      "/changes": ["cause=", "cause=API", "cause=api&cause=undo", "key=", "key=key_", "key=key_é"],
      "/inventory/9001/history": ["before=-1", "before=x", "before=1&before=2"],
    };
    for (const [path, queries] of Object.entries(own)) {
      for (const query of [...shared, ...queries]) {
        const response = await get(`${path}?${query}`);
        expectError(response, "invalid_request");
        const [name] = query.split("=");
        expect((response.json as { message: string }).message).toContain(`'${name}'`);
      }
      const extreme = `${path}?limit=1&after=9007199254740991&color=blue&before=0&key=key_a`;
      expect((await get(extreme)).text).toBe("[]");
    }
    expect((await get("/changes/head?limit=0")).status).toBe(200);
    expectError(await get("/inventory/01/history"), "invalid_request");
  });

  test("[history.head-method] HEAD returns the headers of the page, with its Link", async () => {
    await service().addPets({ petId: 9_101n }, { petId: 9_102n });
    const path = "/changes?limit=1";
    const head = await service().call("HEAD", path, { key: await key() });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("Link")).toBe('</v1/changes?limit=1&after=1>; rel="next"');
    expect(head.headers.get("X-Stability")).toBe("beta");
  });
});
