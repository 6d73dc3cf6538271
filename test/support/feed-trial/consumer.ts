/** Reads the feed, and resumes at any instance after its connection was lost. */
export interface Consumer {
  /** The cursor of the first event. It says where the stream began. */
  readonly startSeq: number;
  /** The changes in the order of their arrival, without repeated ones. */
  readonly seqs: readonly number[];
  /** How many changes would arrive again if the connection were lost now. */
  readonly unsaved: number;
  /** The number of changes that arrived again. */
  readonly repeats: number;
  /** The position of every reset, and the number of changes before it. */
  readonly resets: readonly { readonly seq: number; readonly changesBefore: number }[];
  readonly connections: number;
  /** What a correct service never sends. */
  readonly faults: readonly string[];
  /** Ends the consumer. Resolves when its connection is closed. */
  leave(): Promise<void>;
}

export interface ConsumerOptions {
  readonly key: string;
  /** The address of an instance, asked before every attempt to connect. */
  pickInstance(): string;
  /** Whether there will be no instance any more. */
  isOver(): boolean;
  /** Query parameters of every request. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * The consumer keeps its cursor after this many changes, as one that stores it at intervals.
   * After a reconnection it gets the changes since then again, and recognises them by their cursor.
   */
  readonly savesEvery?: number;
  /** The data of every change by its cursor, shared by all consumers: they must see the same. */
  readonly texts: Map<string, string>;
}

/** Longer than two heartbeats. A consumer that hears nothing for so long connects again. */
const silenceMsMax = 12_000;
const reconnectMsMin = 20;
const reconnectMsMax = 250;

export function startConsumer(options: ConsumerOptions): Consumer {
  const { key, pickInstance, isOver, query = {}, savesEvery = 1, texts } = options;
  const seqs: number[] = [];
  const resets: { seq: number; changesBefore: number }[] = [];
  const faults: string[] = [];
  let startSeq = -1;
  let last = -1;
  let saved = "";
  let unsaved = 0;
  let repeats = 0;
  let connections = 0;
  let isLeaving = false;
  let connection = new AbortController();

  function take(block: string): void {
    const match = /^id: (\S+)\nevent: (change|heartbeat|reset)\ndata: (\{"seq":(\d+).*\})$/.exec(
      block,
    );
    if (!match) {
      if (!/^retry: \d+$/.test(block)) faults.push(`not an event: ${JSON.stringify(block)}`);
      return;
    }
    const [, id, kind, text, digits] = match as unknown as [string, string, string, string, string];
    const seq = Number(digits);
    if (!id.endsWith(`-${seq}`)) faults.push(`${kind} ${id} has data ${text}`);
    if (kind === "change") takeChange(id, seq, text);
    else if (kind === "reset") {
      resets.push({ seq, changesBefore: seqs.length });
      last = seq;
      save(id);
    } else takeHeartbeat(id, seq);
  }

  function takeChange(id: string, seq: number, text: string): void {
    const known = texts.get(id);
    if (known === undefined) texts.set(id, text);
    else if (known !== text) faults.push(`${id} was ${known} and is ${text}`);
    if (seq <= last) {
      repeats += 1;
      return;
    }
    seqs.push(seq);
    last = seq;
    unsaved += 1;
    if (unsaved >= savesEvery) save(id);
  }

  /** The first event of a connection repeats the cursor. Later ones are never before a change. */
  function takeHeartbeat(id: string, seq: number): void {
    if (last < 0) {
      startSeq = seq;
      last = seq;
      save(id);
    } else if (seq > last) {
      // Only rows that the filter leaves out may lie in between. The end of the trial shows that.
      last = seq;
      save(id);
    }
  }

  function save(id: string): void {
    saved = id;
    unsaved = 0;
  }

  async function connect(): Promise<void> {
    connection = new AbortController();
    const parameters = new URLSearchParams(query);
    const response = await fetch(`${pickInstance()}/changes?${parameters}`, {
      headers: {
        Accept: "text/event-stream",
        Authorization: `Bearer ${key}`,
        ...(saved === "" ? {} : { "Last-Event-ID": saved }),
      },
      signal: connection.signal,
    });
    if (response.status !== 200) {
      const text = await response.text();
      if (response.status !== 503) faults.push(`${response.status}: ${text}`);
      return;
    }
    connections += 1;
    await read(response.body!);
  }

  async function read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    const { signal } = connection;
    let silence: Timer | undefined;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), silenceMsMax);
    };
    try {
      listen();
      for await (const bytes of body) {
        listen();
        text += decoder.decode(bytes, { stream: true });
        const blocks = text.split("\n\n");
        // An event that did not arrive completely does not count.
        text = blocks.pop()!;
        for (const block of blocks) take(block);
        if (signal.aborted) break;
      }
    } finally {
      clearTimeout(silence);
    }
  }

  const running = (async () => {
    while (!isLeaving && !isOver()) {
      // A lost connection is what the trial is about.
      await connect().catch(() => {});
      const waitMs = reconnectMsMin + Math.random() * (reconnectMsMax - reconnectMsMin);
      if (!isLeaving) await Bun.sleep(waitMs);
    }
  })();

  return {
    get startSeq() {
      return startSeq;
    },
    get unsaved() {
      return unsaved;
    },
    get repeats() {
      return repeats;
    },
    get connections() {
      return connections;
    },
    seqs,
    resets,
    faults,
    async leave() {
      isLeaving = true;
      connection.abort();
      await running;
    },
  };
}
