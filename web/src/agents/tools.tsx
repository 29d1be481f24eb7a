import { useEffect } from "react";
import { call } from "../api/client";
import type { ToolServer } from "../api/schema";
import type { Tool } from "../api/types";
import { EFFECTS } from "../chat/tool";
import { useLoaded } from "../ui/hooks";

type Choosing = { chosen: string[]; onChange: (chosen: string[]) => void };

/** The tools that an agent can have: those of the workspace, and those of MCP servers. */
export function Tools({ chosen, onChange }: Choosing) {
  const tools = useLoaded(() => call("GET /api/tools"), []);
  const servers = useLoaded(() => call("GET /api/tools/servers"), []);
  // The server waits a while for what is being started; then it is asked again.
  useEffect(() => {
    if (!servers.value?.length) return;
    if (servers.value.some((server) => server.state === "connecting")) void servers.reload();
    void tools.reload();
  }, [servers.value]);
  const offered = tools.value;
  if (!offered) return null;
  const broken = (servers.value ?? []).filter((server) => server.state === "failed" || server.state === "connecting");
  const gone = chosen.filter((name) => !name.includes("*") && !offered.some((tool) => tool.name === name));
  if (!offered.length && !broken.length && !gone.length) return null;
  const toggle = (name: string, on: boolean) => onChange(on ? [...chosen, name] : chosen.filter((other) => other !== name));
  return (
    <fieldset>
      <legend className="label">Tools</legend>
      <div className="card divide-y divide-line">
        {offered.map((tool) => (
          <Entry key={tool.name} tool={tool} checked={chosen.includes(tool.name)} onChange={(on) => toggle(tool.name, on)} />
        ))}
        {gone.map((name) => (
          <Entry key={name} tool={{ name, description: "It is not offered now." }} checked onChange={(on) => toggle(name, on)} />
        ))}
        {broken.map((server) => (
          <p key={server.name} className="hint px-4 py-3">
            {trouble(server)}
          </p>
        ))}
      </div>
    </fieldset>
  );
}

type EntryProps = { tool: Partial<Tool> & Pick<Tool, "name">; checked: boolean; onChange: (on: boolean) => void };

function Entry({ tool, checked, onChange }: EntryProps) {
  return (
    <label className="flex items-start gap-3 px-4 py-3">
      <input type="checkbox" className="mt-1 size-4 accent-accent" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span className="min-w-0">
        <span className="font-mono text-[14px] font-medium break-all">{tool.name}</span>{" "}
        {tool.effect && <span className="ml-2 text-[12.5px] text-soft">{EFFECTS[tool.effect]}</span>}{" "}
        {tool.server && <span className="ml-2 text-[12.5px] text-soft">MCP server {tool.server}</span>}
        <span className="hint block">{tool.description}</span>
      </span>
    </label>
  );
}

const trouble = ({ name, state, error }: ToolServer) =>
  state === "connecting" ? `The MCP server ${name} is still being started.` : `The MCP server ${name} is not there${error ? `: ${error}` : "."}`;
