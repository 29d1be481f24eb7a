import { call, failureFrom } from "../api/client";
import type { Agent } from "../api/types";
import { go, useLoaded, useTitle } from "../ui/hooks";
import { Plus, Robot, Thought, Trash } from "../ui/icons";
import { Page } from "../ui/page";
import { useSay } from "../ui/toasts";
import { Trouble } from "../ui/trouble";
import { thinkingWords } from "./thinking";

export function AgentList() {
  const { value: agents, failure, reload } = useLoaded(() => call("GET /api/agents"), []);
  const say = useSay();
  useTitle("Agents");
  const bin = async (agent: Agent) => {
    try {
      await call("DELETE /api/agents/{id}", { path: agent });
      await reload();
      const back = () => call("POST /api/agents/{id}/restore", { path: agent }).then(reload);
      say(`${agent.name} is deleted.`, { label: "Undo", run: () => void back(), focus: true });
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
      {agents?.length === 0 && (
        <div className="card mt-6 flex flex-col items-center gap-2 px-6 py-12 text-center text-soft">
          <Robot className="size-9 text-accent" />
          <p className="font-medium text-ink">There are none yet.</p>
          <p className="hint max-w-96">An agent remembers its instructions, model and thinking, so that you need not set them in every conversation.</p>
        </div>
      )}
      <ul className="mt-6 space-y-3">
        {agents?.map((agent) => (
          <li key={agent.id} className="card flex items-center gap-3 py-3 pr-3 pl-5">
            <a href={`#/agents/${encodeURIComponent(agent.id)}`} className="min-w-0 flex-1 rounded">
              <span className="block truncate font-medium">{agent.name}</span>
              <span className="hint flex flex-wrap items-center gap-x-3">
                <span className="max-w-full truncate">{agent.model}</span>
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
