import { expect, test } from "vitest";
import type { UsageRow } from "../src/api/types";
import { niceTop } from "../src/usage/charts";
import { added, by, days, thinkingShare } from "../src/usage/numbers";

const row = (fields: Partial<UsageRow>): UsageRow => ({
  day: "2026-11-16",
  provider: "p",
  model: "m",
  agent_id: null,
  agent: null,
  answers: 1,
  unknown: {},
  input_uncached: null,
  cache_read: null,
  cache_write: null,
  input_total: null,
  output_visible: null,
  output_reasoning: null,
  output_total: null,
  cost: null,
  ...fields,
});

test("what nobody told stays unknown, and what some told is their sum", () => {
  expect(added([row({}), row({})])).toMatchObject({ thinking: null, answer: null, cost: null });
  expect(added([row({ output_reasoning: 5 }), row({}), row({ output_reasoning: 7, cost: 0 })])).toMatchObject({ thinking: 12, answer: null, cost: 0 });
});

test("the share of thinking needs both parts", () => {
  expect(thinkingShare(added([row({ output_reasoning: 30, output_visible: 10 })]))).toBe(0.75);
  expect(thinkingShare(added([row({ output_reasoning: 30 })]))).toBeNull();
  expect(thinkingShare(added([]))).toBeNull();
});

test("rows are put together by what they share", () => {
  const rows = [row({ model: "a", cost: 1 }), row({ model: "b", cost: 2 }), row({ model: "a", cost: 3 })];
  expect(by(rows, (one) => one.model ?? "").map(([name, sums]) => [name, sums.cost])).toEqual([
    ["a", 4],
    ["b", 2],
  ]);
});

test("days without an answer are days too", () => {
  expect(days("2026-02-27", "2026-03-02")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]);
});

test.each([
  [0, 1],
  [7, 10],
  [23, 25],
  [1_001, 2_000],
  [0.003, 0.005],
])("an axis for %s ends at %s", (value, top) => expect(niceTop(value)).toBeCloseTo(top));
