import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Toasts, useSay } from "../src/ui/toasts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function Speaker({ undo }: { undo: () => void }) {
  const say = useSay();
  return (
    <>
      <button type="button" onClick={() => say("Saved.")}>
        save
      </button>
      <button type="button" onClick={() => say("Deleted.", { label: "Undo", run: undo, focus: true })}>
        delete
      </button>
    </>
  );
}
const show = (undo = vi.fn()) => {
  render(
    <Toasts>
      <Speaker undo={undo} />
    </Toasts>,
  );
  return undo;
};
const words = () => screen.getByRole("status").textContent;

test("a message goes by itself, and not while somebody points at it", () => {
  show();
  fireEvent.click(screen.getByText("save"));
  act(() => vi.advanceTimersByTime(4_000));
  fireEvent.mouseEnter(screen.getByText("Saved.").parentElement as HTMLElement);
  act(() => vi.advanceTimersByTime(60_000));
  expect(words()).toBe("Saved.");
  fireEvent.mouseLeave(screen.getByText("Saved.").parentElement as HTMLElement);
  act(() => vi.advanceTimersByTime(5_100));
  expect(words()).toBe("");
});

test("the way back has the focus and is taken once", () => {
  const undo = show();
  fireEvent.click(screen.getByText("delete"));
  expect(document.activeElement?.textContent).toBe("Undo");
  fireEvent.click(screen.getByText("Undo"));
  expect(undo).toHaveBeenCalledOnce();
  expect(words()).toBe("");
});
