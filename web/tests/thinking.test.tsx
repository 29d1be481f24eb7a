import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { Thinking } from "../src/chat/thinking";

const LONG = "I should try n = 2k+1, square it, and look at the remainder by four. ".repeat(4);
const view = (text: string, live: boolean) => <Thinking text={text} live={live} elapsed={live ? null : 12} tokens={live ? null : 1234} />;
const line = () => screen.getByRole("button");
const inside = () => screen.queryByRole("region", { name: "What was thought" });

test("it begins closed, with one line of the first words", () => {
  render(view(LONG, false));
  expect(line().getAttribute("aria-expanded")).toBe("false");
  expect(line().textContent).toContain("Thought for 12 s · 1,234 tokens");
  expect(line().textContent).toContain("I should try n = 2k+1");
  expect(inside()).toBeNull();
});

test("while it streams, the line follows and stays closed", () => {
  const { rerender } = render(view("First I look", true));
  const seen = new Set<string>();
  for (const text of ["First I look", "First I look at odd numbers", `${LONG} and now the end`]) {
    rerender(view(text, true));
    seen.add(line().textContent ?? "");
    expect(line().getAttribute("aria-expanded")).toBe("false");
  }
  expect(seen.size).toBe(3);
  expect(line().textContent).toContain("Thinking…");
  expect(line().textContent).toContain("and now the end");
  rerender(view(`${LONG} and now the end`, false));
  expect(line().textContent).toContain("I should try");
  expect(line().textContent).not.toContain("and now the end");
});

test("what the reader opened stays open, while it grows and when it is done", async () => {
  const { rerender } = render(view("First", true));
  await userEvent.click(line());
  expect(line().getAttribute("aria-expanded")).toBe("true");
  rerender(view("First, second", true));
  rerender(view("First, second", false));
  expect(line().getAttribute("aria-expanded")).toBe("true");
  expect(inside()?.textContent).toContain("First, second");
  await userEvent.click(line());
  expect(inside()).toBeNull();
});

test("the keyboard opens it, and the button says what it controls", async () => {
  const { container } = render(view(LONG, false));
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  expect(inside()).not.toBeNull();
  expect(container.querySelector(`[id="${line().getAttribute("aria-controls")}"]`)).not.toBeNull();
});

test("nothing that streams is a live region", () => {
  const { container } = render(view(LONG, true));
  expect(container.querySelector("[aria-live], [role=status], [role=log]")).toBeNull();
});
