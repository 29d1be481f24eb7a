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
