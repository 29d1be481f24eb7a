import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { call } from "../api/client";
import type { Model } from "../api/types";
import { Floating } from "../ui/floating";
import { useLoaded, useSettled } from "../ui/hooks";
import { Check, Chevron, Thought } from "../ui/icons";
import { money, short } from "../ui/words";
import { alwaysThinks } from "./thinking";

type Props = { value: string | null; onChange: (model: Model) => void; compact?: boolean; up?: boolean };

/** Search over every model of the catalog. Type, walk with the arrow keys, take with Enter. */
export function ModelPicker({ value, onChange, compact, up }: Props) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: MouseEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("mousedown", outside);
    return () => document.removeEventListener("mousedown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const [provider, model] = parted(value ?? "Choose a model");
  const look = compact
    ? "inline-flex h-8 max-w-full items-center gap-1.5 rounded-lg px-2 text-[13.5px] text-soft hover:bg-panel hover:text-ink"
    : "field flex items-center justify-between text-left";
  return (
    <div ref={box} className={`relative ${compact ? "min-w-0" : ""}`}>
      <button
        ref={button}
        type="button"
        className={look}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={`Model: ${value ?? "Choose a model"}`}
        onClick={() => setOpen(!open)}
      >
        <span className="truncate">
          {compact && provider && <span className="max-sm:hidden">{provider}/</span>}
          {compact ? model : (value ?? "Choose a model")}
        </span>
        <Chevron className={`size-3.5 ${up ? "-rotate-90" : "rotate-90"}`} />
      </button>
      {open && (
        <Floating anchor={button} up={up} role="dialog" aria-label="Choose a model" className="flex w-[min(30rem,calc(100vw-1rem))] flex-col rounded-2xl p-2">
          <Choices
            value={value}
            onClose={close}
            onTake={(model) => {
              close();
              onChange(model);
            }}
          />
        </Floating>
      )}
    </div>
  );
}

/** The service and the model of a full name; a narrow window shows only the latter. */
function parted(name: string): [string, string] {
  const at = name.indexOf("/");
  return at < 0 ? ["", name] : [name.slice(0, at), name.slice(at + 1)];
}

function Choices(props: { value: string | null; onTake: (model: Model) => void; onClose: () => void }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [taking, setTaking] = useState(false);
  const id = useId();
  const settled = useSettled(words, 120);
  const { value: found, loading } = useLoaded(
    async () => ({ for: settled, ...(await call("GET /api/models", { query: { q: settled, limit: 60 } })) }),
    [settled],
  );
  const models = found?.models ?? [];
  const fresh = found?.for === words;
  const active = Math.min(at, models.length - 1);

  // Whoever types fast means what they typed, not what was found before.
  useEffect(() => {
    if (!taking || !fresh) return;
    setTaking(false);
    const model = models[active];
    if (model) props.onTake(model);
  }, [taking, fresh]);

  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView?.({ block: "nearest" });
  }, [active, id]);

  const key = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(models.length - 1, active + step)));
    }
    if (event.key === "Enter") {
      event.preventDefault();
      setTaking(true);
    }
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      props.onClose();
    }
  };

  return (
    <>
      <input
        autoFocus
        role="combobox"
        aria-label="Search models"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={models[active] ? `${id}-${active}` : undefined}
        aria-autocomplete="list"
        placeholder="Search by name or provider"
        className="field shrink-0"
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={key}
      />
      <ul id={`${id}-list`} role="listbox" aria-label="Models" tabIndex={-1} className="mt-2 max-h-80 min-h-0 overflow-y-auto overscroll-contain">
        {models.map((model, index) => (
          <li
            key={model.name}
            id={`${id}-${index}`}
            role="option"
            aria-selected={model.name === props.value}
            className={`rounded-lg px-3 py-2 ${index === active ? "bg-panel" : ""}`}
            onMouseMove={() => setAt(index)}
            // Between press and release the list may have changed: what was pressed is meant.
            onMouseDown={(event) => event.button === 0 && props.onTake(model)}
            onClick={() => props.onTake(model)}
          >
            <ModelLine model={model} chosen={model.name === props.value} />
          </li>
        ))}
      </ul>
      {!models.length && <p className="hint px-3 py-2">{loading ? "Searching…" : "No model has these words."}</p>}
    </>
  );
}

const ABILITY: Record<string, string> = {
  none: "does not think",
  always: "always thinks",
  toggle: "thinking on or off",
  budget: "thinking budget",
  effort: "thinking levels",
};

function ModelLine({ model, chosen }: { model: Model; chosen: boolean }) {
  const { price, thinking } = model;
  const facts = [
    model.context && `${short(model.context)} context`,
    price && (price.input !== null || price.output !== null) && `${money(price.input)} in, ${money(price.output)} out per M`,
  ].filter(Boolean);
  return (
    <>
      <div className="flex items-center gap-2">
        <span className="truncate font-medium">{model.model}</span>
        <span className="shrink-0 text-[13px] text-soft">{model.provider_label}</span>
        {chosen && <Check className="ml-auto size-4 text-accent" />}
        {!model.has_key && <span className="ml-auto shrink-0 text-[12.5px] text-danger">no key</span>}
      </div>
      <div className="hint flex flex-wrap items-center gap-x-3">
        <span className="inline-flex items-center gap-1">
          {thinking.kind !== "none" && <Thought className="size-3.5" />}
          {alwaysThinks(model) ? ABILITY.always : ABILITY[thinking.kind]}
        </span>
        {facts.map((fact) => (
          <span key={String(fact)}>{fact}</span>
        ))}
      </div>
    </>
  );
}

/** The one model of this name, with what it can do. */
export function useModel(name: string | null) {
  return useLoaded<Model | null>(async () => {
    if (!name) return null;
    const { models } = await call("GET /api/models", { query: { q: name, limit: 20 } });
    return models.find((model) => model.name === name) ?? models.find((model) => model.model === name) ?? null;
  }, [name]);
}
