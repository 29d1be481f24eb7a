import { act, render, waitFor } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { useNews } from "../src/api/news";
import { useTold } from "../src/ui/hooks";
import { Server } from "./server";

type News = { after: string; conversations: string[] | null };
let answer: (news: News) => void;
let asked: (string | null)[];
const told = vi.fn();

function Listener() {
  useNews();
  useTold(told);
  return null;
}

const show = (state: "visible" | "hidden") => {
  vi.spyOn(document, "visibilityState", "get").mockReturnValue(state);
  act(() => void document.dispatchEvent(new Event("visibilitychange")));
};

beforeEach(() => {
  told.mockClear();
  asked = [];
  new Server().on("GET /api/events", ({ url }) => {
    asked.push(url.searchParams.get("after"));
    if (asked.length === 1) return { after: "1-0", conversations: [] };
    return new Promise((resolve) => {
      answer = resolve;
    });
  });
  vi.spyOn(document, "visibilityState", "get").mockReturnValue("visible");
});

test("what changed in another browser is told as if another tab had done it", async () => {
  render(<Listener />);
  await waitFor(() => expect(asked).toEqual([null, "1-0"]));
  answer({ after: "2-0", conversations: ["c1", "c2"] });
  await waitFor(() => expect(told).toHaveBeenCalledTimes(2));
  expect(told).toHaveBeenCalledWith({ what: "conversation", id: "c1", elsewhere: true });
  await waitFor(() => expect(asked).toEqual([null, "1-0", "2-0"]));
});

test("when anything may have changed, everything looks again", async () => {
  const focus = vi.fn();
  addEventListener("focus", focus, { once: true });
  render(<Listener />);
  await waitFor(() => expect(asked).toHaveLength(2));
  answer({ after: "2-0", conversations: null });
  await waitFor(() => expect(focus).toHaveBeenCalled());
});

test("a hidden tab does not listen, and takes up where it was when it is shown", async () => {
  render(<Listener />);
  await waitFor(() => expect(asked).toHaveLength(2));
  show("hidden");
  answer({ after: "2-0", conversations: [] });
  await new Promise((resume) => setTimeout(resume, 20));
  expect(asked).toHaveLength(2);
  show("visible");
  await waitFor(() => expect(asked).toHaveLength(3));
});
