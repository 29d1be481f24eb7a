import { expect, test } from "vitest";
import { age, count, firstWords, lastWords, money, seconds, short, thoughtFor } from "../src/ui/words";

test.each([
  [12.4, 1234, "Thought for 12 s · 1,234 tokens"],
  [0.3, null, "Thought for a moment"],
  [75, 20, "Thought for 1 min 15 s · 20 tokens"],
  [null, 512, "Thought · 512 tokens"],
  [null, null, "Thought"],
  [2, 0, "Thought for 2 s"],
  [3, 1, "Thought for 3 s · 1 token"],
])("a thought of %s s and %s tokens is labelled %j", (elapsed, tokens, label) => {
  expect(thoughtFor(elapsed, tokens)).toBe(label);
});

test.each([count, short, money])("what nobody told is unknown, never 0 (%o)", (words) => {
  expect(words(null)).toBe("unknown");
  expect(words(undefined)).toBe("unknown");
  expect(words(0)).toMatch(/^\$?0$/);
});

test.each([
  [1234.5, "$1234.50"],
  [0.42, "$0.42"],
  [0.0042, "$0.0042"],
  [0.00001, "under $0.0001"],
])("%s dollars are %s", (value, words) => {
  expect(money(value)).toBe(words);
});

test.each([
  [950, "950"],
  [1_500, "1.5k"],
  [200_000, "200k"],
  [1_048_576, "1M"],
])("%s tokens are %s in short", (value, words) => {
  expect(short(value)).toBe(words);
});

test("the first words come without the marks of markdown, cut at a word", () => {
  expect(firstWords("**Plan**\n\n1. Try `n = 2k+1`\n# Then")).toBe("Plan Try n = 2k+1 Then");
  const cut = firstWords(`${"word ".repeat(60)}`, 40);
  expect(cut).toBe(`${"word ".repeat(7)}word…`);
});

test("the last words begin at a word and are never longer than the line", () => {
  const shown = lastWords(`${"alpha ".repeat(80)}omega`);
  expect(shown.startsWith("…alpha")).toBe(true);
  expect(shown.endsWith("omega")).toBe(true);
  expect(shown.length).toBeLessThanOrEqual(91);
});

test("an hour is in minutes", () => expect(seconds(3_725)).toBe("62 min 5 s"));

test("days are told as people say them", () => {
  const now = new Date(2026, 10, 16, 12);
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime() / 1000;
  expect([at(16, 0), at(15, 23), at(15, 1), at(10, 1), at(1, 1)].map((time) => age(time, now))).toEqual([
    "Today",
    "Yesterday",
    "Yesterday",
    "Last seven days",
    "Earlier",
  ]);
  expect(age(null, now)).toBe("Earlier");
});
