// The process that offers more than the service can do: updates or reads at a fixed rate, on many connections.
// It writes and reads bytes itself, because it must take less of the processors than the service.
import { Histogram, type Latency } from "../../bench/histogram.ts";
import { ResponseReader } from "../../bench/response-reader.ts";
import { countedPets } from "../shoppers.ts";

export interface Offer {
  readonly port: number;
  readonly key: string;
  readonly method: "GET" | "PATCH";
  readonly connections: number;
  /** All connections together. From `asFastAsPossible` on, each sends as soon as it is answered. */
  readonly perSecond: number;
  readonly ms: number;
  /** The first quantity. Each update sets a new one, so each that is stored is a row of the ledger. */
  readonly quantity: number;
}

export const asFastAsPossible = 1e9;

export interface OfferReport {
  /** Answered with 200. */
  readonly good: Latency;
  readonly refused: Latency;
  /** Due, but no connection was free. */
  readonly unsent: number;
  /** Other answers, and refusals without Retry-After. */
  readonly wrong: readonly string[];
  /** Until the offer ended. What was answered later is not counted. */
  readonly goodPerSecond: number;
}

async function run(offer: Offer): Promise<OfferReport> {
  const { port, key, method, perSecond, ms } = offer;
  const [good, refused] = [new Histogram(), new Histogram()];
  const wrong: string[] = [];
  const idle: (() => void)[] = [];
  const names = new Map<string, string>();
  const sockets: Bun.Socket[] = [];
  let quantity = offer.quantity;
  let underWay = 0;
  let unsent = 0;
  let endsAt = Number.POSITIVE_INFINITY;

  function request(petId: number): string {
    const start = `${method} /v1/inventory/${petId} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${key}\r\n`;
    if (method === "GET") return `${start}\r\n`;
    const body = `{"quantity":${quantity++}}`;
    return `${start}Content-Length: ${body.length}\r\n\r\n${body}`;
  }

  async function open(index: number): Promise<void> {
    let sentAt = 0;
    let isGood = false;
    let isClosed = false;
    let isWaiting = false;
    const petId = countedPets[index % countedPets.length]!;
    const reader = new ResponseReader(
      {
        head(head) {
          isGood = head.status === 200;
          const isRefusal = head.status === 503 || head.status === 429;
          const isWrong = !isGood && !(isRefusal && Number(head.find("retry-after")) >= 1);
          if (isWrong && wrong.length < 5) wrong.push(head.text);
        },
        body() {},
        end() {
          (isGood ? good : refused).add(performance.now() - sentAt);
          isWaiting = false;
          underWay -= 1;
          if (perSecond >= asFastAsPossible && performance.now() < endsAt) send();
          else idle.push(send);
        },
      },
      names,
    );
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_socket, bytes) => reader.push(bytes),
        close() {
          wrong.push("a connection was closed");
          isClosed = true;
          if (isWaiting) underWay -= 1;
        },
      },
    });
    socket.setNoDelay(true);
    sockets.push(socket);
    function send(): void {
      if (isClosed) return;
      isWaiting = true;
      underWay += 1;
      sentAt = performance.now();
      socket.write(request(petId));
    }
    idle.push(send);
  }

  for (let index = 0; index < offer.connections; index++) await open(index);
  const begunAt = performance.now();
  endsAt = begunAt + ms;
  if (perSecond >= asFastAsPossible) {
    for (const send of idle.splice(0)) send();
    await Bun.sleep(ms);
  }
  for (let dueAt = begunAt; performance.now() < endsAt; await Bun.sleep(1)) {
    for (; dueAt <= performance.now(); dueAt += 1_000 / perSecond) {
      const send = idle.pop();
      if (send) send();
      else unsent += 1;
    }
  }
  const goodPerSecond = (good.count * 1_000) / (performance.now() - begunAt);
  while (underWay > 0) await Bun.sleep(5);
  const closed = wrong.length;
  for (const socket of sockets) socket.terminate();
  return {
    good: good.summary(),
    refused: refused.summary(),
    unsent,
    wrong: wrong.slice(0, Math.min(5, closed)),
    goodPerSecond,
  };
}

process.on("message", async (offer: Offer) => void process.send!(await run(offer)));
process.on("disconnect", () => process.exit(0));
