import { useEffect, useState } from "react";
import type { Model, Thinking } from "../api/types";
import { useModel } from "../agents/picker";
import { budgetTrouble, thinkingFor, thinkingWords, usualThinking } from "../agents/thinking";
import { ThinkingCard } from "../agents/thinking_card";
import { Dialog } from "../ui/dialog";
import { Thought } from "../ui/icons";

type Props = { model: string | null; value: Thinking | null; onSave: (thinking: Thinking) => void };

/** A button that says whether the model will think, and opens the card on which that is set. */
export function ThinkingButton({ model: name, value, onSave }: Props) {
  const [open, setOpen] = useState(false);
  const model = useModel(name).value ?? null;
  const label = thinkingWords(value);
  return (
    <>
      <button
        type="button"
        className="inline-flex h-8 shrink-0 items-center gap-1.5 rounded-lg px-2 text-[13.5px] text-soft hover:bg-panel hover:text-ink"
        aria-label={`Thinking: ${label}`}
        title="How much it thinks"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <Thought className={value?.enabled ? "size-[17px] text-accent" : "size-[17px]"} />
        <span className="max-sm:hidden">Thinking: {label}</span>
      </button>
      {open && (
        <ThinkingDialog
          model={model}
          value={value}
          onClose={() => setOpen(false)}
          onSave={(thinking) => {
            setOpen(false);
            onSave(thinking);
          }}
        />
      )}
    </>
  );
}

type DialogProps = { model: Model | null; value: Thinking | null; onClose: () => void; onSave: (thinking: Thinking) => void };

function ThinkingDialog({ model, value, onClose, onSave }: DialogProps) {
  const [thinking, setThinking] = useState<Thinking>({ enabled: false });
  useEffect(() => {
    if (model) setThinking(value ? thinkingFor(model, value) : usualThinking(model));
  }, [model, value]);
  const trouble = model ? budgetTrouble(thinking.budget, model) : null;
  return (
    <Dialog title="Thinking in this conversation" onClose={onClose}>
      {model ? (
        <ThinkingCard model={model} value={thinking} onChange={setThinking} />
      ) : (
        <p className="hint">Nothing is known about this model, so nothing will be sent about thinking.</p>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <button type="button" className="btn btn-quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="btn btn-main" disabled={!model || trouble !== null} onClick={() => onSave(thinking)}>
          Use
        </button>
      </div>
    </Dialog>
  );
}
