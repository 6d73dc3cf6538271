import { expect, test } from "bun:test";
import { connectionOptions, parseAddress } from "../../src/store/postgres/engine/address.ts";
import { openWorkspace } from "../support/process.ts";

test("an address with several hosts becomes one address per host, otherwise unchanged", () => {
  const { urls, label, prepare } = parseAddress(
    "postgres://us%40er:p%2Cw@a.example:5432,b.example/shop?sslmode=require&sslrootcert=%2Fca.pem",
  );
  expect(urls).toEqual([
    "postgres://us%40er:p%2Cw@a.example:5432/shop?sslmode=require&sslrootcert=%2Fca.pem",
    "postgres://us%40er:p%2Cw@b.example/shop?sslmode=require&sslrootcert=%2Fca.pem",
  ]);
  expect(label).toBe("a.example:5432,b.example/shop");
  expect(prepare).toBe(true);
});

test("the service's own parameters are not sent to the database, and no message contains the password", () => {
  const text = "postgresql://me:secret@[::1]:5433/shop?prepare=false&target_session_attrs=any";
  expect(parseAddress(text)).toEqual({
    urls: ["postgresql://me:secret@[::1]:5433/shop"],
    label: "[::1]:5433/shop",
    prepare: false,
  });
});

test("an invalid address is rejected with a message that does not contain it", () => {
  for (const text of [
    "postgres://a b:1/x",
    "postgres://me:secret@h:port/x",
    "postgres://h/x?prepare=1",
  ]) {
    expect(() => parseAddress(text)).toThrow(/^(the database address|prepare in the database)/);
  }
});

test("the folder of a socket, or a host, may be in the query", () => {
  expect(parseAddress("postgres://me@/shop?host=/run/postgresql&port=5433")).toEqual({
    urls: ["postgres://me@localhost:5433/shop?host=%2Frun%2Fpostgresql"],
    label: "/run/postgresql/shop",
    prepare: true,
  });
  expect(parseAddress("postgres://me@/shop?host=db.example").urls).toEqual([
    "postgres://me@db.example/shop",
  ]);
});

test("only the address determines host, user and database, whatever the PG* variables contain", () => {
  const options = connectionOptions("postgres://me:p%40w@db.example/shop?sslmode=require");
  expect(options).toMatchObject({ username: "me", port: 5432, database: "shop" });
  expect(options.password()).toBe("p@w");
  const short = connectionOptions("postgres://me@db.example:5433");
  expect(short).toMatchObject({ port: 5433, database: "me" });
  expect(short.password()).toBe("");
  expect(parseAddress("postgres:///shop").urls).toEqual(["postgres://localhost/shop"]);
});

test("an address without a password or a host takes none from the environment", async () => {
  const passwords: string[] = [];
  const askForPassword = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        // A message that begins with a letter is the response. The first message has none.
        if (bytes[0] !== 0x70) return void socket.write(askForPassword);
        passwords.push(bytes.subarray(5, -1).toString());
        socket.end();
      },
    },
  });
  const place = openWorkspace();
  try {
    const env = { PGPASSWORD: "fromenv", PGHOST: "192.0.2.1" };
    const database = `postgres:///shop?port=${server.port}`;
    await place.run(["keys", "list", "--database", database], { env });
    expect(new Set(passwords)).toEqual(new Set([""]));
  } finally {
    server.stop(true);
    await place.leave();
  }
});
