import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, expect, test } from "vitest";
import type { Model, Thinking } from "../src/api/types";
import { budgetTrouble, startBudget, thinkingFor } from "../src/agents/thinking";
import { ThinkingCard } from "../src/agents/thinking_card";
import { model, Server } from "./server";

let server: Server;
beforeEach(() => {
  server = new Server().on("POST /api/plan", ({ body }) => {
    const { thinking } = body as { thinking: Thinking };
    return { lines: [], notes: [], effective: {}, sentence: `will send ${JSON.stringify(thinking)}` };
  });
});

function Card({ of, begin = { enabled: false } }: { of: Model; begin?: Thinking }) {
  const [value, setValue] = useState(begin);
  return <ThinkingCard model={of} value={value} onChange={setValue} />;
}
const box = () => screen.queryByRole("checkbox", { name: /Enable thinking/ });

test.each(["none", "always"] as const)("a model that thinks %s has no checkbox, but a sentence", (kind) => {
  render(<Card of={model({ kind, sentence: "This is how it is." })} />);
  expect(box()).toBeNull();
  expect(screen.getByText("This is how it is.")).toBeTruthy();
});

test("a budget model has a field, checked against its range", async () => {
  render(<Card of={model()} begin={{ enabled: true, budget: 10_000 }} />);
  const field = screen.getByRole<HTMLInputElement>("spinbutton", { name: "Thinking budget (tokens)" });
  expect(field.value).toBe("10000");
  await userEvent.clear(field);
  await userEvent.type(field, "100");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByText("This model takes 1,024 to 63,999 tokens.")).toBeTruthy();
});

test("an effort model has a level select that begins with the provider's default", async () => {
  render(<Card of={model({ kind: "effort", levels: ["low", "medium", "high"], budget: null, default: "medium" })} />);
  expect(screen.queryByRole("combobox")).toBeNull();
  await userEvent.click(box() as HTMLElement);
  const options = screen.getAllByRole("option").map((option) => option.textContent);
  expect(options).toEqual(["Provider default (Medium)", "Low", "Medium", "High"]);
});

test("the plan on the card follows every change", async () => {
  render(<Card of={model({ kind: "effort", levels: ["low", "high"], budget: null, default: "high" })} begin={{ enabled: true }} />);
  await userEvent.selectOptions(screen.getByRole("combobox"), "low");
  await waitFor(() => expect(screen.getByRole("status").textContent).toContain('"level":"low"'));
  expect(server.requests("POST", "/api/plan").length).toBeLessThanOrEqual(3);
});

test("the budget starts at 10,000, or at the nearest that the model takes", () => {
  expect(startBudget(model())).toBe(10_000);
  expect(startBudget(model({ budget: { min: 128, max: 8_000, default: 8_000 } }))).toBe(8_000);
});

test("another model keeps what it can of the thinking that was chosen", () => {
  const effort = model({ kind: "effort", levels: ["low", "high"], budget: null });
  expect(thinkingFor(effort, { enabled: true, level: "high" })).toEqual({ enabled: true, level: "high", budget: null });
  expect(thinkingFor(effort, { enabled: true, budget: 9_000 })).toEqual({ enabled: true, level: null, budget: null });
  expect(thinkingFor(model(), { enabled: true, budget: 9_000 })).toEqual({ enabled: true, level: null, budget: 9_000 });
  expect(thinkingFor(model(), { enabled: true, level: "high" })).toEqual({ enabled: true, level: null, budget: 10_000 });
  expect(thinkingFor(model({ kind: "none" }), { enabled: true, level: "high" }).enabled).toBe(false);
});

test("an empty budget is the model's own choice and no trouble", () => {
  expect(budgetTrouble(null, model())).toBeNull();
  expect(budgetTrouble(1.5, model())).toBe("Give a whole number of tokens.");
});

test.each(["effort", "budget", "toggle"] as const)("a model of kind %s that cannot be stopped has no checkbox, and its controls at once", async (kind) => {
  const levels = kind === "effort" ? ["low", "high"] : [];
  const always = model({ kind, levels, can_be_off: false, sentence: "It cannot be turned off." });
  render(<Card of={always} begin={{ enabled: false }} />);
  expect(box()).toBeNull();
  expect(screen.getByText("It cannot be turned off.")).toBeTruthy();
  expect(screen.queryAllByRole("combobox")).toHaveLength(kind === "effort" ? 1 : 0);
  expect(screen.queryAllByRole("spinbutton")).toHaveLength(kind === "budget" ? 1 : 0);
  expect(thinkingFor(always, { enabled: false }).enabled).toBe(true);
});
