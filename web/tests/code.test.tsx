import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";
import { CodeBlock, Coloured } from "../src/chat/code";
import { Markdown } from "../src/chat/markdown";
import { Toasts } from "../src/ui/toasts";

afterEach(() => vi.restoreAllMocks());

test("a fenced code has the colours of its language, and no style of its own", () => {
  const { container } = render(<Markdown text={"```py\ndef f(): # one\n    return 'x'\n```"} live />);
  expect([...container.querySelectorAll(".code-word")].map((one) => one.textContent)).toEqual(["def", "return"]);
  expect(container.querySelector("pre")?.textContent).toBe("def f(): # one\n    return 'x'");
  expect(container.querySelector("pre [style]")).toBeNull();
});

test("while code grows, the lines that are there stay the same elements", () => {
  const view = (text: string) => <Coloured text={text} language="python" />;
  const { container, rerender } = render(view("a = 1\nb = "));
  const lines = () => [...(container.querySelector("code")?.children ?? [])];
  const [first] = lines();
  const number = container.querySelector(".code-number");
  rerender(view("a = 1\nb = 2\nc"));
  expect(lines()).toHaveLength(3);
  expect(lines()[0]).toBe(first);
  expect(container.querySelector(".code-number")).toBe(number);
});

test("a quotation that closes later recolours what it holds", () => {
  const view = (text: string) => <Coloured text={text} language="js" />;
  const { container, rerender } = render(view("`a\nreturn b"));
  expect(container.querySelector(".code-word")).toBeNull();
  rerender(view("``\nreturn b"));
  expect(container.querySelector(".code-word")?.textContent).toBe("return");
});

test("the code is copied as it is", async () => {
  const user = userEvent.setup();
  render(<CodeBlock text={"x = 1\n\ny"} language="" />);
  await user.click(screen.getByRole("button", { name: "Copy code" }));
  expect(await navigator.clipboard.readText()).toBe("x = 1\n\ny");
  expect(screen.getByRole("button", { name: "Copied" })).toBeTruthy();
});

test("a browser that does not let us copy is told of", async () => {
  const user = userEvent.setup();
  vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("no"));
  render(
    <Toasts>
      <CodeBlock text="x" language="py" />
    </Toasts>,
  );
  await user.click(screen.getByRole("button", { name: "Copy code" }));
  expect(screen.getByRole("status").textContent).toContain("does not let this page copy");
  expect(screen.getByRole("button", { name: "Copy code" })).toBeTruthy();
});
