import { expect, test } from "bun:test";
import { connectionOptions, parseAddress } from "../../src/store/postgres/address.ts";

test("an address with several hosts is one address per host, with everything else kept", () => {
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

test("what is ours in the query does not reach the database, and the password no message", () => {
  const text = "postgresql://me:secret@[::1]:5433/shop?prepare=false&target_session_attrs=any";
  expect(parseAddress(text)).toEqual({
    urls: ["postgresql://me:secret@[::1]:5433/shop"],
    label: "[::1]:5433/shop",
    prepare: false,
  });
});

test("an address that cannot be one is refused in a sentence that does not repeat it", () => {
  for (const text of [
    "postgres://a b:1/x",
    "postgres://me:secret@h:port/x",
    "postgres://h/x?prepare=1",
  ]) {
    expect(() => parseAddress(text)).toThrow(/^(the database address|prepare in the database)/);
  }
});

test("the folder of a socket, or a host, may stand in the query", () => {
  expect(parseAddress("postgres://me@/shop?host=/run/postgresql&port=5433")).toEqual({
    urls: ["postgres://me@localhost:5433/shop?host=%2Frun%2Fpostgresql"],
    label: "/run/postgresql/shop",
    prepare: true,
  });
  expect(parseAddress("postgres://me@/shop?host=db.example").urls).toEqual([
    "postgres://me@db.example/shop",
  ]);
});

test("the address alone says where to connect and as whom, whatever PG* variables say", () => {
  const options = connectionOptions("postgres://me:p%40w@db.example/shop?sslmode=require");
  expect(options).toEqual({ username: "me", password: "p@w", port: 5432, database: "shop" });
  expect(connectionOptions("postgres://me@db.example:5433")).toMatchObject({
    ...{ password: "", port: 5433, database: "me" },
  });
});
