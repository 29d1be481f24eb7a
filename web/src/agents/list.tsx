import { call, failureFrom } from "../api/client";
import type { Agent } from "../api/types";
import { go, useLoaded } from "../ui/hooks";
import { Plus, Thought, Trash } from "../ui/icons";
import { Page } from "../ui/page";
import { useSay } from "../ui/toasts";
import { Trouble } from "../ui/trouble";
import { thinkingWords } from "./thinking";

export function AgentList() {
  const { value: agents, failure, reload } = useLoaded(() => call("GET /api/agents"), []);
  const say = useSay();
  const bin = async (agent: Agent) => {
    try {
      await call("DELETE /api/agents/{id}", { path: agent });
      await reload();
      const back = () => call("POST /api/agents/{id}/restore", { path: agent }).then(reload);
      say(`${agent.name} is deleted.`, { label: "Undo", run: () => void back() });
    } catch (error) {
      say(failureFrom(error).message);
    }
  };
  return (
    <Page>
      <div className="flex items-center justify-between gap-4">
        <h1 className="text-2xl font-semibold">Agents</h1>
        <a className="btn btn-main" href="#/agents/new">
          <Plus /> New agent
        </a>
      </div>
      <p className="mt-1 text-soft">A name, instructions, a model, tools, and how much it thinks.</p>
      {failure && <div className="mt-6"><Trouble failure={failure} again={() => void reload()} /></div>}
      {agents?.length === 0 && <p className="mt-10 text-soft">There are none yet. An agent is made in a minute.</p>}
      <ul className="mt-6 space-y-3">
        {agents?.map((agent) => (
          <li key={agent.id} className="card flex items-center gap-3 py-3 pr-3 pl-5">
            <a href={`#/agents/${encodeURIComponent(agent.id)}`} className="min-w-0 flex-1 rounded">
              <span className="block truncate font-medium">{agent.name}</span>
              <span className="hint flex items-center gap-3">
                <span className="truncate">{agent.model}</span>
                {agent.thinking.enabled && (
                  <span className="inline-flex shrink-0 items-center gap-1">
                    <Thought className="size-3.5" /> {thinkingWords(agent.thinking)}
                  </span>
                )}
              </span>
            </a>
            <button type="button" className="btn" onClick={() => go("new", agent.id)}>
              Chat
            </button>
            <button type="button" className="btn-icon" aria-label={`Delete ${agent.name}`} onClick={() => void bin(agent)}>
              <Trash />
            </button>
          </li>
        ))}
      </ul>
    </Page>
  );
}
