import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Trouble } from "../src/ui/trouble";

afterEach(() => vi.useRealTimers());

test("a missing key is told with the name of its variable", () => {
  render(<Trouble failure={{ kind: "missing_key", message: "There is no key for Anthropic", variable: "ANTHROPIC_API_KEY" }} />);
  expect(screen.getByRole("alert").textContent).toContain("ANTHROPIC_API_KEY");
  expect(screen.getByRole("alert").textContent).toContain("Nothing was sent, and no other way was tried");
});

test("a rate limit counts down, and only then lets one try again", () => {
  vi.useFakeTimers();
  const again = vi.fn();
  render(<Trouble failure={{ kind: "rate_limit", message: "Too many requests", retry_after: 3 }} again={again} />);
  const button = screen.getByRole<HTMLButtonElement>("button");
  expect(button.textContent).toBe("Try again in 3 s");
  expect(button.disabled).toBe(true);
  act(() => vi.advanceTimersByTime(2_100));
  expect(button.textContent).toBe("Try again in 1 s");
  act(() => vi.advanceTimersByTime(1_100));
  expect(button.textContent).toBe("Try again");
  fireEvent.click(button);
  expect(again).toHaveBeenCalledOnce();
});

test("the countdown goes on where it was when the page is opened again, and is not read out every second", () => {
  vi.useFakeTimers({ now: 100_000 });
  const failure = { kind: "rate_limit", message: "Too many requests", retry_after: 30 };
  const { unmount } = render(<Trouble failure={failure} since={80} again={vi.fn()} />);
  expect(screen.getByRole("button").textContent).toBe("Try again in 10 s");
  expect(screen.getByRole("alert").contains(screen.getByRole("button"))).toBe(false);
  unmount();
  render(<Trouble failure={failure} since={20} again={vi.fn()} />);
  expect(screen.getByRole("button").textContent).toBe("Try again");
});

test("a server whose clock is ahead makes nobody wait longer than it said", () => {
  vi.useFakeTimers({ now: 100_000 });
  render(<Trouble failure={{ kind: "rate_limit", message: "Too many requests", retry_after: 30 }} since={900} again={vi.fn()} />);
  expect(screen.getByRole("button").textContent).toBe("Try again in 30 s");
});

test("a refused key is told with the name of its variable, and that something was sent", () => {
  render(<Trouble failure={{ kind: "auth", message: "invalid x-api-key", variable: "ANTHROPIC_API_KEY" }} />);
  expect(screen.getByRole("alert").textContent).toContain("The key in ANTHROPIC_API_KEY was refused");
  expect(screen.getByRole("alert").textContent).not.toContain("Nothing was sent");
});

test("nobody is told to type a command of the terminal", () => {
  render(<Trouble failure={{ kind: "context_too_long", message: "too long", help: "/compact" }} />);
  expect(screen.getByRole("alert").textContent).not.toContain("/compact");
});
