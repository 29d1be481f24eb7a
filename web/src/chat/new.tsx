import { useEffect, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Failure, Model, Thinking } from "../api/types";
import { ModelPicker } from "../agents/picker";
import { thinkingFor, usualThinking } from "../agents/thinking";
import { go, tell, useLoaded } from "../ui/hooks";
import { Trouble } from "../ui/trouble";
import { Composer } from "./composer";
import { sendFirst } from "./first";
import { ThinkingButton } from "./settings";
import type { Draft } from "./line";

/** A blank page, a model or an agent, and a place to write. */
export function NewConversation({ agentId, simulated }: { agentId: string | null; simulated: boolean }) {
  const agents = useLoaded(() => call("GET /api/agents"), []).value ?? [];
  const models = useLoaded(() => call("GET /api/models", { query: { limit: 1 } }), []).value;
  const [chosen, setChosen] = useState<string | null>(agentId);
  const [model, setModel] = useState<Model | null>(null);
  const [thinking, setThinking] = useState<Thinking | null>(null);
  const [failure, setFailure] = useState<Failure>();
  const [sending, setSending] = useState(false);
  const agent = agents.find((one) => one.id === chosen) ?? null;
  useEffect(() => setChosen(agentId), [agentId]);
  useEffect(() => {
    if (models && model === null) setModel(models.models[0] ?? null);
  }, [models, model]);
  useEffect(() => {
    if (model) setThinking((now) => (now ? thinkingFor(model, now) : usualThinking(model)));
  }, [model]);

  const begin = async (draft: Draft) => {
    setSending(true);
    try {
      const asked = chosen ? { agent_id: chosen } : { model: model?.name, settings: thinking ? { thinking } : {} };
      const made = await call("POST /api/conversations", { body: asked });
      sendFirst(made.id, draft);
      tell({ what: "conversations" });
      go("c", made.id);
    } catch (error) {
      setFailure(failureFrom(error));
      setSending(false);
    }
  };

  return (
    <div className="flex h-full flex-col justify-end overflow-y-auto md:justify-center">
      <div className="mx-auto w-full max-w-2xl px-4 pt-16 pb-6 sm:px-6 md:pb-24">
        <h1 className="mb-6 px-2 text-[26px] font-semibold">{agent ? agent.name : "What shall we think about?"}</h1>
        {failure && (
          <div className="mb-4">
            <Trouble failure={failure} />
          </div>
        )}
        <Composer autoFocus busy={sending} onSend={(draft) => void begin(draft)} onStop={() => setSending(false)}>
          {agents.length > 0 && (
            <select
              aria-label="Agent"
              className="h-8 max-w-40 truncate rounded-lg bg-transparent px-2 text-[13.5px] text-soft hover:bg-panel hover:text-ink"
              value={chosen ?? ""}
              onChange={(event) => setChosen(event.target.value || null)}
            >
              <option value="">No agent</option>
              {agents.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
          {!chosen && <ModelPicker compact up value={model?.name ?? null} onChange={setModel} />}
          {!chosen && model && <ThinkingButton model={model.name} value={thinking} onSave={setThinking} />}
        </Composer>
        <p className="hint mt-3 px-2 text-balance">
          {simulated
            ? "Simulated: the answers are scripted, and no model is asked. To ask real ones, set a provider's key where the server runs and start it without --sim."
            : "Enter sends, Shift+Enter begins a line. The thought bubble says how much the model thinks."}
        </p>
      </div>
    </div>
  );
}
