// Sockets of the operating system, without a library that reads from them ahead. Linux only.
import { dlopen } from "bun:ffi";

const libc = dlopen("libc.so.6", {
  socket: { args: ["int", "int", "int"], returns: "int" },
  connect: { args: ["int", "ptr", "int"], returns: "int" },
  send: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
  recv: { args: ["int", "ptr", "u64", "int"], returns: "i64" },
  setsockopt: { args: ["int", "int", "int", "ptr", "int"], returns: "int" },
  shutdown: { args: ["int", "int"], returns: "int" },
  close: { args: ["int"], returns: "int" },
}).symbols;

const inet = 2;
const stream = 1;
const socketLevel = 1;
const linger = 13;
const sendingSide = 1;
const noWait = 0x40;
const noSignal = 0x4000;

/** A connection of which nothing is received unless `receive` is called. */
export interface BareSocket {
  send(text: string): void;
  /** Receives at most this many bytes. Returns 0 if the peer has closed, and -1 without a byte. */
  receive(bytesMax: number): number;
  /** Closes the sending side. */
  shutdown(): void;
  close(): void;
  /** Closes with a reset. */
  reset(): void;
}

export function connectBare({ hostname, port }: { hostname: string; port: string }): BareSocket {
  const socket = libc.socket(inet, stream, 0);
  const address = Buffer.alloc(16);
  address.writeUInt16LE(inet, 0);
  address.writeUInt16BE(Number(port), 2);
  address.set(hostname.split(".").map(Number), 4);
  if (socket < 0 || libc.connect(socket, address, address.length) !== 0) {
    throw new Error(`cannot connect to ${hostname}:${port}`);
  }
  return {
    send(text) {
      const bytes = Buffer.from(text);
      libc.send(socket, bytes, bytes.length, noSignal);
    },
    receive: (bytesMax) =>
      Number(libc.recv(socket, Buffer.alloc(bytesMax), bytesMax, noWait | noSignal)),
    shutdown: () => void libc.shutdown(socket, sendingSide),
    close: () => void libc.close(socket),
    reset() {
      // On, and without waiting for unsent bytes.
      libc.setsockopt(socket, socketLevel, linger, Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]), 8);
      libc.close(socket);
    },
  };
}
