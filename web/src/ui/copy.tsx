import { useState } from "react";
import { Check, Copy } from "./icons";
import { useSay } from "./toasts";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  const copy = useCopy();
  if (!text) return null;
  return (
    <button
      type="button"
      className="btn-icon"
      aria-label={done ? "Copied" : label}
      title={label}
      onClick={async () => {
        if (!(await copy(text))) return;
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      }}
    >
      {done ? <Check className="size-4" /> : <Copy className="size-4" />}
    </button>
  );
}

/** Puts a text on the clipboard, and says so where that is not possible. */
export function useCopy(): (text: string) => Promise<boolean> {
  const say = useSay();
  return async (text) => {
    if (await copied(text)) return true;
    say("The browser does not let this page copy. Select the text and copy it by hand.");
    return false;
  };
}

/** Browsers have no clipboard for pages that come without TLS from another machine; the old command still works there. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedTheOldWay(text);
  }
}

function copiedTheOldWay(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  document.body.append(area);
  area.select();
  const done = document.execCommand?.("copy") ?? false;
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
