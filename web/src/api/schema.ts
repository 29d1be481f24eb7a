// Made by types_from_api.py from the server's OpenAPI document. Do not edit.

export type Agent = {
  id: string;
  name: string;
  instructions: string;
  model: string | null;
  thinking: ThinkingChoice;
  tools: string[];
  created: number;
  updated: number;
};

export type AgentChange = {
  name?: string;
  instructions?: string;
  model?: string | null;
  thinking?: ThinkingChoice;
  tools?: string[];
};

export type Approval = {
  tool_call_id: string;
  decision: "always" | "no" | "yes";
};

export type Approved = {
  decided: boolean;
};

export type BudgetRange = {
  min: number;
  max: number;
  default: number;
};

/** Something said; or nothing, and the conversation goes on, or one of its answers is made again. */
export type Chat = {
  message?: NewMessage | null;
  parent_id?: string | null;
  regenerate?: string | null;
};

/** Tokens that the next request would have; `limit` is null where nobody knows it. */
export type Context = {
  total: number;
  limit: number | null;
  shown: string;
};

export type Conversation = {
  id: string;
  title: string | null;
  model: string | null;
  agent_id: string | null;
  preview: string;
  created: number;
  updated: number;
  count: number;
  running: boolean;
  head: string | null;
  settings: Record<string, unknown>;
  context: Context | null;
};

export type ConversationChange = {
  title?: string | null;
  model?: string | null;
  settings?: Record<string, unknown>;
  agent_id?: string | null;
  head?: string;
};

/** A conversation in a list. `model` is who would answer: its own, or its agent's. */
export type ConversationEntry = {
  id: string;
  title: string | null;
  model: string | null;
  agent_id: string | null;
  preview: string;
  updated: number;
  count: number;
  running: boolean;
};

export type Conversations = {
  items: ConversationEntry[];
  next: string | null;
};

export type Credentials = {
  name: string;
  password: string;
};

export type Done = {
  ok?: boolean;
};

export type Error = {
  error: ErrorBody;
};

export type ErrorBody = {
  kind: string;
  message: string;
  advice: string;
  variable?: string | null;
  path?: string | null;
  retry_after?: number | null;
};

/** Conversations that changed, or whose answer began or ended; null when any may have. */
export type Events = {
  after: string;
  conversations: string[] | null;
};

/** What was asked, what was sent, what came back. Fields that nobody knows are null. */
export type Explained = {
  requested: Record<string, unknown> | null;
  effective: Record<string, unknown> | null;
  observed: Record<string, unknown>;
  outcome: string | null;
  lines: string[];
  notes: ToldNote[];
  request: Record<string, unknown> | null;
  requests: Record<string, unknown>[];
  usage: Record<string, unknown> | null;
  cost: number | null;
  failure: Record<string, unknown> | null;
};

export type File = {
  file_id: string;
  media_type: string;
  name: string;
  size: number;
};

export type FileRef = {
  file_id: string;
};

export type Invitation = {
  token: string;
  expires: number;
};

export type Inviting = {
  admin?: boolean;
  days?: number;
};

export type Joining = {
  token: string;
  name: string;
  password: string;
};

/** Who is asking, and how this server is served. */
export type Me = {
  user: User | null;
  auth: boolean;
  simulated: boolean;
  version: string;
  needs_setup: boolean;
  needs_token?: boolean;
};

/** The branch that the conversation stands at; `branches` has the alternatives of each message. */
export type Messages = {
  messages: UIMessage[];
  branches: Record<string, string[]>;
  running: string | null;
};

export type Model = {
  name: string;
  provider: string;
  provider_label: string;
  model: string;
  context: number | null;
  max_output: number | null;
  price: ModelPrice | null;
  released: string | null;
  has_key: boolean;
  thinking: ThinkingAbility;
};

/** US dollars for a million tokens. */
export type ModelPrice = {
  input: number | null;
  output: number | null;
};

export type Models = {
  models: Model[];
};

export type NewAccount = {
  name: string;
  password: string;
};

export type NewAgent = {
  name: string;
  instructions?: string;
  model?: string | null;
  thinking?: ThinkingChoice;
  tools?: string[];
};

export type NewConversation = {
  agent_id?: string | null;
  model?: string | null;
  settings?: Record<string, unknown>;
};

export type NewMessage = {
  text?: string;
  files?: FileRef[];
};

export type NewUser = {
  name: string;
  password: string;
  admin?: boolean;
};

export type PlanAnswer = {
  lines: string[];
  notes: ToldNote[];
  effective: Record<string, unknown>;
  requested: Record<string, unknown>;
  sentence: string;
  has_key: boolean;
  thinking: ThinkingAbility | null;
};

export type PlanRequest = {
  model: string;
  thinking?: ThinkingChoice;
};

export type SignedIn = {
  user: User;
};

export type Stopped = {
  stopped: boolean;
};

/** How a model can be told to think, for a form to show. */
export type ThinkingAbility = {
  kind: "always" | "budget" | "effort" | "none" | "toggle";
  levels: string[];
  budget: BudgetRange | null;
  default: string | null;
  can_be_off: boolean;
  sentence: string;
};

/** What an agent asks for; `enabled: null` leaves it to the provider. */
export type ThinkingChoice = {
  enabled?: boolean | null;
  level?: string | null;
  budget?: number | null;
};

export type Titled = {
  title: string | null;
};

export type Token = {
  token: string;
};

export type ToldNote = {
  code: string;
  message: string;
};

export type ToolEntry = {
  name: string;
  description: string | null;
  effect: "read" | "run" | "write";
  server?: string | null;
};

/** An MCP server. `error` is what is wrong with it, for those who can mend it. */
export type ToolServer = {
  name: string;
  state: "closed" | "connected" | "connecting" | "disabled" | "failed";
  error?: string | null;
};

/** The AI SDK's `UIMessage`. */
export type UIMessage = {
  id: string;
  role: string;
  parts: Record<string, unknown>[];
  metadata: Record<string, unknown>;
};

export type Usage = {
  rows: UsageEntry[];
};

export type UsageEntry = {
  day: string;
  provider: string | null;
  model: string | null;
  agent_id: string | null;
  agent: string | null;
  answers: number;
  input_uncached: number | null;
  cache_read: number | null;
  cache_write: number | null;
  input_total: number | null;
  output_visible: number | null;
  output_reasoning: number | null;
  output_total: number | null;
  cost: number | null;
  unknown: Record<string, number>;
};

export type User = {
  id: string;
  name: string;
  admin: boolean;
};

export type UserEntry = {
  id: string;
  name: string;
  admin: boolean;
  created: number;
  removed: number | null;
};

/** What each operation takes and gives; unknown where that is no JSON. */
export type Api = {
  "GET /api/agents": {
    gives: Agent[];
    takes: undefined;
    query: undefined;
  };
  "POST /api/agents": {
    gives: Agent;
    takes: NewAgent;
    query: undefined;
  };
  "GET /api/agents/{id}": {
    gives: Agent;
    takes: undefined;
    query: undefined;
  };
  "PATCH /api/agents/{id}": {
    gives: Agent;
    takes: AgentChange;
    query: undefined;
  };
  "DELETE /api/agents/{id}": {
    gives: Done;
    takes: undefined;
    query: undefined;
  };
  "POST /api/agents/{id}/restore": {
    gives: Agent;
    takes: undefined;
    query: undefined;
  };
  "GET /api/conversations": {
    gives: Conversations;
    takes: undefined;
    query: { q?: string; before?: string; limit?: number; };
  };
  "POST /api/conversations": {
    gives: Conversation;
    takes: NewConversation;
    query: undefined;
  };
  "GET /api/conversations/{id}": {
    gives: Conversation;
    takes: undefined;
    query: undefined;
  };
  "PATCH /api/conversations/{id}": {
    gives: Conversation;
    takes: ConversationChange;
    query: undefined;
  };
  "DELETE /api/conversations/{id}": {
    gives: Done;
    takes: undefined;
    query: undefined;
  };
  "POST /api/conversations/{id}/approve": {
    gives: Approved;
    takes: Approval;
    query: undefined;
  };
  "POST /api/conversations/{id}/chat": {
    gives: unknown;
    takes: Chat;
    query: undefined;
  };
  "GET /api/conversations/{id}/export": {
    gives: unknown;
    takes: undefined;
    query: { to?: "jsonl" | "markdown"; thinking?: boolean; };
  };
  "GET /api/conversations/{id}/messages": {
    gives: Messages;
    takes: undefined;
    query: undefined;
  };
  "POST /api/conversations/{id}/restore": {
    gives: Conversation;
    takes: undefined;
    query: undefined;
  };
  "POST /api/conversations/{id}/stop": {
    gives: Stopped;
    takes: undefined;
    query: undefined;
  };
  "GET /api/conversations/{id}/stream": {
    gives: unknown;
    takes: undefined;
    query: { "last-event-id"?: string; run?: string; };
  };
  "POST /api/conversations/{id}/title": {
    gives: Titled;
    takes: undefined;
    query: undefined;
  };
  "GET /api/events": {
    gives: Events;
    takes: undefined;
    query: { after?: string; };
  };
  "POST /api/files": {
    gives: File;
    takes: FormData;
    query: undefined;
  };
  "GET /api/files/{id}": {
    gives: unknown;
    takes: undefined;
    query: undefined;
  };
  "POST /api/invitations": {
    gives: Invitation;
    takes: Inviting;
    query: undefined;
  };
  "POST /api/join": {
    gives: SignedIn;
    takes: Joining;
    query: undefined;
  };
  "POST /api/login": {
    gives: SignedIn;
    takes: Credentials;
    query: undefined;
  };
  "POST /api/logout": {
    gives: Done;
    takes: undefined;
    query: undefined;
  };
  "GET /api/me": {
    gives: Me;
    takes: undefined;
    query: undefined;
  };
  "GET /api/messages/{id}/explain": {
    gives: Explained;
    takes: undefined;
    query: undefined;
  };
  "GET /api/messages/{id}/files/{number}": {
    gives: unknown;
    takes: undefined;
    query: undefined;
  };
  "GET /api/models": {
    gives: Models;
    takes: undefined;
    query: { q?: string; limit?: number; };
  };
  "POST /api/plan": {
    gives: PlanAnswer;
    takes: PlanRequest;
    query: undefined;
  };
  "POST /api/setup": {
    gives: SignedIn;
    takes: NewAccount;
    query: undefined;
  };
  "POST /api/token": {
    gives: Done;
    takes: Token;
    query: undefined;
  };
  "GET /api/tools": {
    gives: ToolEntry[];
    takes: undefined;
    query: undefined;
  };
  "GET /api/tools/servers": {
    gives: ToolServer[];
    takes: undefined;
    query: undefined;
  };
  "GET /api/usage": {
    gives: Usage;
    takes: undefined;
    query: { since?: string; until?: string; offset?: number; };
  };
  "GET /api/users": {
    gives: UserEntry[];
    takes: undefined;
    query: undefined;
  };
  "POST /api/users": {
    gives: UserEntry;
    takes: NewUser;
    query: undefined;
  };
  "DELETE /api/users/{id}": {
    gives: Done;
    takes: undefined;
    query: { purge?: boolean; };
  };
};
