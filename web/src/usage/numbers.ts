// Rows of usage, added up. A bucket that nobody told stays unknown; one that some told is their sum.
import type { UsageRow } from "../api/types";

export type Sums = {
  input: number | null;
  thinking: number | null;
  answer: number | null;
  cost: number | null;
  answers: number;
  unknown: number;
};

const NOTHING: Sums = { input: null, thinking: null, answer: null, cost: null, answers: 0, unknown: 0 };

const plus = (a: number | null, b: number | null | undefined) => (b === null || b === undefined ? a : (a ?? 0) + b);

export function unknownOf(row: UsageRow): number {
  return Math.max(0, ...Object.values(row.unknown));
}

export function added(rows: UsageRow[]): Sums {
  return rows.reduce(
    (sums, row) => ({
      input: plus(sums.input, row.input_total),
      thinking: plus(sums.thinking, row.output_reasoning),
      answer: plus(sums.answer, row.output_visible),
      cost: plus(sums.cost, row.cost),
      answers: sums.answers + row.answers,
      unknown: sums.unknown + unknownOf(row),
    }),
    NOTHING,
  );
}

export function by(rows: UsageRow[], key: (row: UsageRow) => string): [string, Sums][] {
  const piles = new Map<string, UsageRow[]>();
  for (const row of rows) piles.set(key(row), [...(piles.get(key(row)) ?? []), row]);
  return [...piles].map(([name, pile]): [string, Sums] => [name, added(pile)]);
}

/** Every day from the first to the last, also those on which nothing was asked. */
export function days(since: string, until: string): string[] {
  const all: string[] = [];
  const day = new Date(`${since}T00:00:00Z`);
  const end = new Date(`${until}T00:00:00Z`);
  while (day <= end && all.length < 400) {
    all.push(day.toISOString().slice(0, 10));
    day.setUTCDate(day.getUTCDate() + 1);
  }
  return all;
}

/** How much of what was written was thought; unknown without both parts. */
export function thinkingShare(sums: Sums): number | null {
  if (sums.thinking === null || sums.answer === null) return null;
  const all = sums.thinking + sums.answer;
  return all ? sums.thinking / all : null;
}
