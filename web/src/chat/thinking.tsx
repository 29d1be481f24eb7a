import { memo, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Chevron, Lock, Thought } from "../ui/icons";
import { firstWords, lastWords, thoughtTime, tokens } from "../ui/words";
import { Markdown } from "./markdown";

type Props = { text: string; live: boolean; elapsed: number | null; tokens: number | null };

/** One line with a thought bubble and the first words. A click shows the rest; it always begins closed. */
export const Thinking = memo(function Thinking({ text, live, elapsed, tokens: used }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const measured = useElapsed(live);
  return (
    <section className="rounded-xl bg-thought text-[13.5px] text-soft" aria-label="Thinking">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex h-9 w-full items-center gap-2 rounded-xl px-3 text-left hover:text-ink"
      >
        <Thought className={`size-[17px] ${live ? "breathe text-accent" : ""}`} />
        <span className="shrink-0 font-medium">
          {live ? "Thinking…" : thoughtTime(elapsed ?? measured)}
          {!live && used ? <span className="max-sm:hidden"> · {tokens(used)}</span> : null}
        </span>
        <span className="min-w-0 flex-1 truncate italic" data-preview>
          {open ? "" : live ? lastWords(text) : firstWords(text)}
        </span>
        <Chevron className={`size-4 transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      <div id={id} hidden={!open} className="border-t border-line">
        {open && <Inside text={text} live={live} />}
      </div>
    </section>
  );
});

/** Long thoughts scroll inside their box, and follow the newest words until the reader scrolls up. */
function Inside({ text, live }: { text: string; live: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const follow = useRef(live);
  useEffect(() => {
    const element = box.current;
    if (live && follow.current && element) element.scrollTop = element.scrollHeight;
  }, [text, live]);
  return (
    <div
      ref={box}
      role="region"
      aria-label="What was thought"
      tabIndex={0}
      className="max-h-80 overflow-y-auto px-4 py-3 leading-relaxed"
      onScroll={(event) => {
        const element = event.currentTarget;
        follow.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
      }}
    >
      <Markdown text={text} live={live} />
    </div>
  );
}

/** How long it was live before our eyes; nothing when it was over already. */
function useElapsed(live: boolean): number | null {
  const begun = useRef<number | null>(null);
  const [elapsed, setElapsed] = useState<number | null>(null);
  useEffect(() => {
    if (live) begun.current ??= performance.now();
    else if (begun.current !== null) setElapsed((performance.now() - begun.current) / 1000);
  }, [live]);
  return elapsed;
}

/** Thinking that took place and cannot be read, with the reason. */
export function Stub({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex items-start gap-2 rounded-xl bg-thought px-3 py-2 text-[13.5px] text-soft" aria-label="Thinking">
      <Lock className="mt-0.5 size-[17px]" />
      <p>
        <span className="font-medium">{title}</span> {children}
      </p>
    </section>
  );
}

/** Before the first word of anything. The line is as high as what follows, so nothing jumps. */
export function Waiting() {
  return (
    <div className="flex h-9 items-center gap-2 rounded-xl bg-thought px-3 text-[13.5px] text-soft">
      <Thought className="breathe size-[17px] text-accent" />
      <span className="font-medium">Thinking…</span>
    </div>
  );
}
