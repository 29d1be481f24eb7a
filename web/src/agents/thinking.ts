// What can be asked of a model's thinking, and how it is written down.
import type { Model, Thinking } from "../api/types";
import { count } from "../ui/words";

export const DEFAULT_BUDGET = 10_000;

const LEVEL_WORDS: Record<string, string> = {
  none: "Off",
  minimal: "Minimal",
  low: "Low",
  med: "Medium",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
  auto: "Automatic",
};
export const levelWord = (level: string) => LEVEL_WORDS[level] ?? level;

/** What is wrong with a budget for this model, in words; nothing when it is right. */
export function budgetTrouble(budget: number | null | undefined, model: Model): string | null {
  const range = model.thinking.budget;
  if (!range || budget === null || budget === undefined) return null;
  if (!Number.isInteger(budget)) return "Give a whole number of tokens.";
  if (budget < range.min || budget > range.max) {
    return `This model takes ${count(range.min)} to ${count(range.max)} tokens.`;
  }
  return null;
}

/** Whether a model thinks whatever one asks for. */
export const alwaysThinks = ({ thinking }: Model): boolean => thinking.kind === "always" || (thinking.kind !== "none" && !thinking.can_be_off);

/** The budget that a model starts with: 10,000, or the nearest that it takes. Nothing for one without budgets. */
export function startBudget(model: Model): number | null {
  const { kind, budget: range } = model.thinking;
  if (kind !== "budget") return null;
  return range ? Math.max(range.min, Math.min(range.max, DEFAULT_BUDGET)) : DEFAULT_BUDGET;
}

/** What stays of the thinking that was chosen when another model is taken. */
export function thinkingFor(model: Model, before: Thinking): Thinking {
  const { kind, levels } = model.thinking;
  if (kind === "none") return { enabled: false, level: null, budget: null };
  const fits = before.budget && !budgetTrouble(before.budget, model);
  return {
    enabled: alwaysThinks(model) || (before.enabled ?? false),
    level: before.level && levels.includes(before.level) ? before.level : null,
    budget: kind === "budget" && fits ? (before.budget ?? null) : startBudget(model),
  };
}

/** Where nobody has chosen: on, if the model can. */
export function usualThinking(model: Model): Thinking {
  return thinkingFor(model, { enabled: true });
}

export function thinkingWords(thinking: Thinking | null): string {
  if (!thinking) return "as usual";
  if (!thinking.enabled) return "off";
  if (thinking.budget) return `${count(thinking.budget)} tokens`;
  return thinking.level ? levelWord(thinking.level).toLowerCase() : "on";
}
