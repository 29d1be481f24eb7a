import { type ReactNode, useEffect, useMemo, useState } from "react";
import type { Failure } from "../api/types";
import { Warning } from "./icons";
import { seconds } from "./words";

const ADVICE: Record<string, string> = {
  retry: "Trying again may help.",
  fix_request: "Change the request or the settings, then try again.",
  fix_key: "Check the key, then try again.",
  report: "If it stays, report it.",
};

/** Where the server's own words are for a terminal. */
const HERE: Record<string, string> = {
  context_too_long: "The conversation is too long for this model: go on from an earlier message, or take a model that reads more at once.",
  start_token: "Copy the whole address from the terminal in which the server runs.",
  web_off: "The gateway on the same port still serves.",
  not_owner: "Nothing was changed.",
  not_found: "The provider does not know this model or address. Choose another model.",
};

/** What went wrong, which variable is missing, how long to wait, and what can be done. */
export function Trouble(props: { failure: Failure; since?: number; again?: () => void; children?: ReactNode }) {
  const { failure, since, again, children } = props;
  const left = useCountdown(failure, since);
  return (
    <div className="flex gap-3 rounded-xl bg-danger-tint px-4 py-3 text-[14px]">
      <span className="mt-0.5 text-danger">
        <Warning />
      </span>
      <div className="min-w-0 flex-1">
        <div role="alert" className="space-y-1.5">
          <p className="font-medium [overflow-wrap:anywhere] text-danger">{failure.message}</p>
          {failure.variable ? <KeyTrouble kind={failure.kind} variable={failure.variable} /> : <p>{HERE[failure.kind] ?? failure.help ?? ADVICE[failure.advice ?? ""]}</p>}
          {children}
        </div>
        {again && (
          <button type="button" className="btn mt-2.5" disabled={left > 0} onClick={again}>
            {left > 0 ? `Try again in ${seconds(Math.max(1, left))}` : "Try again"}
          </button>
        )}
      </div>
    </div>
  );
}

function KeyTrouble({ kind, variable }: { kind: string; variable: string }) {
  const name = <code className="rounded bg-panel px-1.5 py-0.5 font-mono text-[13px]">{variable}</code>;
  if (kind === "missing_key") return <p>Set {name} where the server runs. Nothing was sent, and no other way was tried.</p>;
  return <p>The key in {name} was refused: put another there, where the server runs. No other way was tried.</p>;
}

/** Whole seconds until one may try again, from when it went wrong; a reload does not begin anew. */
function useCountdown(failure: Failure, since?: number): number {
  const wait = failure.retry_after ?? 0;
  const end = useMemo(() => (since ? since * 1000 : Date.now()) + wait * 1000, [failure, since, wait]);
  const rest = () => Math.max(0, Math.min(Math.ceil(wait), Math.ceil((end - Date.now()) / 1000)));
  const [left, setLeft] = useState(rest);
  useEffect(() => {
    setLeft(rest());
    if (rest() === 0) return;
    const timer = setInterval(() => {
      setLeft(rest());
      if (rest() === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [end]);
  return left;
}
