// What the server sends. Its own document gives the shapes; only what is inside a message is written here.
import type { UIMessage } from "ai";
import type * as api from "./schema";

export type { Agent, Me, Model } from "./schema";
export type Thinking = api.ThinkingChoice;
export type Note = api.ToldNote;
export type Tool = api.ToolEntry;
export type ConversationItem = api.ConversationEntry;
export type Uploaded = api.File;
export type User = api.UserEntry;
export type UsageRow = api.UsageEntry;

/** By name, as in the configuration; and `thinking` as an agent has it. */
export type Settings = { thinking?: Thinking; [name: string]: unknown };
export type Conversation = Omit<api.Conversation, "settings"> & { settings: Settings };

export type Usage = Pick<
  UsageRow,
  "input_uncached" | "cache_read" | "cache_write" | "input_total" | "output_visible" | "output_reasoning" | "output_total"
>;

export type Failure = {
  kind: string;
  message: string;
  advice?: string;
  help?: string;
  variable?: string | null;
  retry_after?: number | null;
};

export type MessageMetadata = {
  status?: "complete" | "interrupted" | "failed" | "streaming";
  model?: string | null;
  provider?: string | null;
  usage?: Usage | null;
  cost?: number | null;
  elapsed_thinking?: number | null;
  notes?: Note[];
  failure?: Failure | null;
  thinking_skipped?: { code: string; message: string } | null;
  parent_id?: string | null;
  created?: number;
  updated?: number;
};

export type Approval = {
  tool_call_id: string;
  tool: string;
  effect: string;
  input: unknown;
  /** The arguments without anything that could mislead the eye. */
  shown?: string;
  state: "asked" | "yes" | "no" | "always";
};

export type DataParts = {
  note: Note;
  redacted: { form: string; why: string };
  approval: Approval;
};

export type Message = UIMessage<MessageMetadata, DataParts>;
export type Part = Message["parts"][number];

/** `running` is the message that is being written. Of it, only what was there before is given; its stream has the rest. */
export type Messages = Omit<api.Messages, "messages"> & { messages: Message[] };

export type Explained = Omit<api.Explained, "usage"> & { usage: Usage | null };
