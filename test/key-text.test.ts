import { expect, test } from "bun:test";
import { environments, generateKeyText, isKeyText } from "../src/domain/keys/keys.ts";

/** Made by version 0.2.0, which computed the checksum with its own code. */
const live = "psk_live_dfc22tQeinXEwK2WhrkWXRswGIpS62N24IS2xM16u543Bw6Lp";
const staging = "psk_test_Z81T8UnqRlzq8N2SwC9J5IMWSKfkWVAwKu517A71rlg3LirME";

test("keys of earlier versions are valid, each in its own environment", () => {
  expect(isKeyText(live, "production")).toBe(true);
  expect(isKeyText(staging, "staging")).toBe(true);
  expect(isKeyText(live, "staging")).toBe(false);
  expect(isKeyText(staging, "production")).toBe(false);
});

test("a key with one wrong character is invalid", () => {
  for (let at = 0; at < live.length; at++) {
    for (const character of ["a", "b"]) {
      if (live[at] === character) continue;
      const changed = live.slice(0, at) + character + live.slice(at + 1);
      expect([changed, isKeyText(changed, "production")]).toEqual([changed, false]);
    }
  }
  for (const text of ["", live.slice(0, -1), `${live}0`, ` ${live}`, `${live}\n`]) {
    expect([text, isKeyText(text, "production")]).toEqual([text, false]);
  }
});

test("new keys are valid and differ", () => {
  for (const environment of environments) {
    const texts = Array.from({ length: 100 }, () => generateKeyText(environment));
    expect(texts.every((text) => isKeyText(text, environment))).toBe(true);
    expect(new Set(texts).size).toBe(100);
  }
});
