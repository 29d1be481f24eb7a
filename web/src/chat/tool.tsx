import { memo, useId, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Approval } from "../api/types";
import { Chevron, Wrench } from "../ui/icons";
import { useSay } from "../ui/toasts";
import { Coloured } from "./code";
import type { ToolPart } from "./groups";

const STATES: Record<string, string> = {
  "input-streaming": "is being called",
  "input-available": "is running",
  "output-available": "ran",
  "output-error": "failed",
  "output-denied": "was not allowed",
};

/** A tool's call and its result, closed like a thought. */
export const ToolCall = memo(function ToolCall({ part, asked = false }: { part: ToolPart; asked?: boolean }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const failed = part.state === "output-error";
  return (
    <section className="rounded-xl border border-line text-[13.5px]" aria-label={`Tool ${part.toolName}`}>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex h-9 w-full items-center gap-2 rounded-xl px-3 text-left text-soft hover:text-ink"
      >
        <Wrench className={`size-[17px] ${part.state.startsWith("input") ? "breathe text-accent" : ""}`} />
        <span className="shrink-0">
          <span className="font-mono font-medium text-ink">{part.toolName}</span>{" "}
          <span className={failed ? "text-danger" : ""}>{asked ? "waits for you" : (STATES[part.state] ?? part.state)}</span>
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-[12.5px]">{open ? "" : shown(part.input, true)}</span>
        <Chevron className={`size-4 transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      <div id={id} hidden={!open} className="space-y-2 border-t border-line px-4 py-3">
        {open && (
          <>
            <Block title="Asked with" text={shown(part.input)} language="json" />
            {part.state === "output-available" && <Block title="Result" text={shown(part.output)} />}
            {part.state === "output-error" && <Block title="Error" text={part.errorText} />}
          </>
        )}
      </div>
    </section>
  );
});

function Block({ title, text, language = "" }: { title: string; text: string; language?: string }) {
  return (
    <div>
      <p className="mb-1 text-[12.5px] text-soft">{title}</p>
      <pre
        tabIndex={0}
        className="max-h-72 overflow-auto rounded-lg bg-panel p-3 font-mono text-[12.5px] leading-snug whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        <Coloured text={text} language={language} />
      </pre>
    </div>
  );
}

export function shown(value: unknown, short = false): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return short ? JSON.stringify(value).slice(0, 200) : JSON.stringify(value, null, 2);
}

const CHOICES = [
  ["yes", "Allow"],
  ["always", "Always allow"],
  ["no", "Refuse"],
] as const;

export const EFFECTS: Record<string, string> = {
  read: "It only looks.",
  write: "It can change files.",
  run: "It can do anything on the machine.",
};
const DECIDED = { yes: "allowed", always: "always allowed", no: "not allowed" };

/** A tool that may change something waits for a word from the reader. */
export function ApprovalAsk({ ask, conversation, live }: { ask: Approval; conversation: string; live: boolean }) {
  const [chosen, setChosen] = useState<"yes" | "no" | "always" | null>(null);
  const say = useSay();
  const decided = ask.state === "asked" ? chosen : ask.state;
  const decide = async (decision: "yes" | "no" | "always") => {
    setChosen(decision);
    try {
      await call("POST /api/conversations/{id}/approve", {
        path: { id: conversation },
        body: { tool_call_id: ask.tool_call_id, decision },
      });
    } catch (error) {
      setChosen(null);
      say(failureFrom(error).message);
    }
  };
  if (decided || !live) {
    return (
      <p className="text-[13.5px] text-soft">
        {ask.tool} was {decided ? DECIDED[decided] : "not decided on"}.
      </p>
    );
  }
  return (
    <section role="group" aria-label={`May ${ask.tool} run?`} className="space-y-2 rounded-xl border border-accent bg-tint px-4 py-3 text-[14px]">
      <p>
        May <code className="font-mono font-medium">{ask.tool}</code> run? {EFFECTS[ask.effect]}
      </p>
      <pre tabIndex={0} className="max-h-40 overflow-auto rounded-lg bg-panel p-2 font-mono text-[12.5px] whitespace-pre-wrap [overflow-wrap:anywhere]">
        {ask.shown ?? shown(ask.input)}
      </pre>
      <div className="flex flex-wrap gap-2">
        {CHOICES.map(([decision, label]) => (
          <button key={decision} type="button" className={`btn ${decision === "yes" ? "btn-main" : ""}`} onClick={() => void decide(decision)}>
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}
