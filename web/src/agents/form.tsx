import { type FormEvent, useEffect, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Agent, Failure } from "../api/types";
import { go, useLoaded, useTitle } from "../ui/hooks";
import { Page } from "../ui/page";
import { useSay } from "../ui/toasts";
import { Trouble } from "../ui/trouble";
import { ModelPicker, useModel } from "./picker";
import { budgetTrouble, thinkingFor } from "./thinking";
import { ThinkingCard } from "./thinking_card";
import { Tools } from "./tools";

type Draft = Pick<Agent, "name" | "instructions" | "model" | "thinking" | "tools">;
const EMPTY: Draft = { name: "", instructions: "", model: null, thinking: { enabled: false }, tools: [] };

export function AgentForm({ id }: { id: string | null }) {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const [failure, setFailure] = useState<Failure>();
  const [saving, setSaving] = useState(false);
  const say = useSay();
  useTitle(id ? "Edit agent" : "New agent");
  const kept = useLoaded(async () => (id ? call("GET /api/agents/{id}", { path: { id } }) : null), [id]);
  const model = useModel(draft.model).value ?? null;
  useEffect(() => {
    if (kept.value) setDraft(kept.value);
  }, [kept.value]);

  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }));
  const trouble = model ? budgetTrouble(draft.thinking.budget, model) : null;
  const ready = draft.name.trim() !== "" && draft.model && !trouble && !saving;

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    setSaving(true);
    const { name, instructions, model: chosen, thinking, tools: used } = draft;
    const body = { name: name.trim(), instructions, model: chosen, thinking, tools: used };
    try {
      await (id ? call("PATCH /api/agents/{id}", { path: { id }, body }) : call("POST /api/agents", { body }));
      say(`${body.name} is saved.`);
      go("agents");
    } catch (error) {
      setFailure(failureFrom(error));
      setSaving(false);
    }
  };

  if (kept.failure) {
    return (
      <Page>
        <Trouble failure={kept.failure} />
      </Page>
    );
  }
  return (
    <Page>
      <h1 className="text-2xl font-semibold">{id ? "Edit agent" : "New agent"}</h1>
      <form className="mt-6 space-y-6" onSubmit={save}>
        <div>
          <label className="label" htmlFor="agent-name">
            Name
          </label>
          <input id="agent-name" className="field" value={draft.name} maxLength={100} required onChange={(event) => set({ name: event.target.value })} />
        </div>
        <div>
          <label className="label" htmlFor="agent-instructions">
            Instructions
          </label>
          <textarea
            id="agent-instructions"
            className="field min-h-36"
            placeholder="Who it is, what it knows, how it should answer"
            value={draft.instructions}
            onChange={(event) => set({ instructions: event.target.value })}
          />
        </div>
        <div>
          <span className="label">Model</span>
          <ModelPicker
            value={draft.model}
            onChange={(chosen) => set({ model: chosen.name, thinking: thinkingFor(chosen, draft.thinking) })}
          />
          {model && !model.has_key && <p className="mt-1.5 text-[13px] text-danger">There is no key for {model.provider_label} on this server.</p>}
        </div>
        {model && <ThinkingCard model={model} value={draft.thinking} onChange={(thinking) => set({ thinking })} />}
        <Tools chosen={draft.tools} onChange={(chosen) => set({ tools: chosen })} />
        {failure && <Trouble failure={failure} />}
        <div className="flex gap-3">
          <button type="submit" className="btn btn-main" disabled={!ready}>
            Save agent
          </button>
          <a className="btn btn-quiet" href="#/agents">
            Cancel
          </a>
        </div>
      </form>
    </Page>
  );
}
