import { useState } from "react";
import { Check, Copy } from "./icons";

export function CopyButton({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  if (!text) return null;
  return (
    <button
      type="button"
      className="btn-icon"
      aria-label={done ? "Copied" : "Copy"}
      title="Copy"
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        setDone(true);
        setTimeout(() => setDone(false), 1500);
      }}
    >
      {done ? <Check className="size-4" /> : <Copy className="size-4" />}
    </button>
  );
}
