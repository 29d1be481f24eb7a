import { type ReactNode, useEffect, useState } from "react";
import type { Failure } from "../api/types";
import { Warning } from "./icons";
import { seconds } from "./words";

const ADVICE: Record<string, string> = {
  retry: "Trying again may help.",
  fix_request: "Change the request or the settings, then try again.",
  fix_key: "Check the key, then try again.",
  report: "If it stays, report it.",
};

/** What went wrong, which variable is missing, how long to wait, and what can be done. */
export function Trouble({ failure, again, children }: { failure: Failure; again?: () => void; children?: ReactNode }) {
  const left = useCountdown(failure.retry_after ?? 0);
  return (
    <div role="alert" className="flex gap-3 rounded-xl bg-danger-tint px-4 py-3 text-[14px]">
      <span className="mt-0.5 text-danger">
        <Warning />
      </span>
      <div className="min-w-0 flex-1 space-y-1.5">
        <p className="font-medium [overflow-wrap:anywhere] text-danger">{failure.message}</p>
        {failure.variable && (
          <p>
            Set <code className="rounded bg-panel px-1.5 py-0.5 font-mono text-[13px]">{failure.variable}</code> where the
            server runs. Nothing was sent, and no other way was tried.
          </p>
        )}
        {!failure.variable && <p>{failure.help ?? ADVICE[failure.advice ?? ""]}</p>}
        {children}
        {again && (
          <button type="button" className="btn mt-1" disabled={left > 0} onClick={again}>
            {left > 0 ? `Try again in ${seconds(Math.max(1, left))}` : "Try again"}
          </button>
        )}
      </div>
    </div>
  );
}

function useCountdown(from: number): number {
  const [left, setLeft] = useState(Math.ceil(from));
  useEffect(() => {
    const end = Date.now() + from * 1000;
    setLeft(Math.ceil(from));
    if (from <= 0) return;
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setLeft(rest);
      if (rest === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [from]);
  return left;
}
