import { useId } from "react";
import { call } from "../api/client";
import type { Model, Thinking } from "../api/types";
import { useLoaded, useSettled } from "../ui/hooks";
import { Thought } from "../ui/icons";
import { count } from "../ui/words";
import { alwaysThinks, budgetTrouble, levelWord, startBudget } from "./thinking";

type Props = { model: Model; value: Thinking; onChange: (value: Thinking) => void };

/** Whether and how much a model thinks, and what will be sent for it. */
export function ThinkingCard({ model, value, onChange }: Props) {
  const { thinking } = model;
  const box = useId();
  const always = alwaysThinks(model);
  const optional = thinking.kind !== "none" && !always;
  const on = always || (value.enabled ?? false);
  return (
    <fieldset className="card space-y-4 p-5">
      <legend className="sr-only">Thinking</legend>
      <div className="flex items-center gap-2">
        <Thought className="size-5 text-accent" />
        <h3 className="font-semibold">Thinking</h3>
      </div>
      {optional && (
        <label htmlFor={box} className="flex items-start gap-3">
          <input
            id={box}
            type="checkbox"
            className="mt-1 size-4 accent-accent"
            checked={value.enabled ?? false}
            onChange={(event) => onChange({ ...value, enabled: event.target.checked, budget: value.budget ?? startBudget(model) })}
          />
          <span>
            <span className="font-medium">Enable thinking</span>
            <span className="hint block">The model shows how it reasons before it answers.</span>
          </span>
        </label>
      )}
      {on && thinking.kind === "budget" && <Budget model={model} value={value} onChange={onChange} />}
      {on && thinking.kind !== "budget" && thinking.levels.length > 0 && (
        <Level model={model} value={value} onChange={onChange} />
      )}
      <p className="hint">{thinking.sentence}</p>
      <LivePlan model={model.name} thinking={value} />
    </fieldset>
  );
}

function Budget({ model, value, onChange }: Props) {
  const id = useId();
  const range = model.thinking.budget;
  const trouble = budgetTrouble(value.budget, model);
  return (
    <div>
      <label htmlFor={id} className="label">
        Thinking budget (tokens)
      </label>
      <input
        id={id}
        type="number"
        inputMode="numeric"
        className="field max-w-48"
        step={1}
        min={range?.min}
        max={range?.max}
        value={value.budget ?? ""}
        aria-invalid={trouble !== null}
        aria-describedby={`${id}-hint`}
        onChange={(event) => onChange({ ...value, budget: event.target.value === "" ? null : Number(event.target.value) })}
      />
      <p id={`${id}-hint`} className={trouble ? "mt-1.5 text-[13px] text-danger" : "hint mt-1.5"}>
        {trouble ?? (range ? `${count(range.min)} to ${count(range.max)}; empty leaves it to the model.` : "Empty leaves it to the model.")}
      </p>
    </div>
  );
}

function Level({ model, value, onChange }: Props) {
  const id = useId();
  const { levels, default: usual } = model.thinking;
  return (
    <div>
      <label htmlFor={id} className="label">
        Level
      </label>
      <select
        id={id}
        className="field max-w-72"
        value={value.level ?? ""}
        onChange={(event) => onChange({ ...value, level: event.target.value || null })}
      >
        <option value="">Provider default{usual ? ` (${levelWord(usual)})` : ""}</option>
        {levels.map((level) => (
          <option key={level} value={level}>
            {levelWord(level)}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The plan as the server makes it, anew with every change. */
export function LivePlan({ model, thinking }: { model: string; thinking: Thinking }) {
  const asked = useSettled(JSON.stringify({ model, thinking }), 200);
  const { value: plan, failure } = useLoaded(() => call("POST /api/plan", { body: JSON.parse(asked) }), [asked]);
  return (
    <div role="status" className="min-h-12 rounded-xl bg-thought px-4 py-3 text-[13.5px] text-soft">
      {failure ? failure.message : (plan?.sentence ?? "…")}
      {plan?.notes.map((note) => (
        <p key={note.code + note.message} className="mt-1">
          {note.message}
        </p>
      ))}
    </div>
  );
}
