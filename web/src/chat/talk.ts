import { useChat } from "@ai-sdk/react";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Conversation, Message, Messages } from "../api/types";
import { tell, useTold } from "../ui/hooks";
import { isRunning, Line, type State, withParts } from "./line";

export type Talk = State & { line: Line; messages: Message[]; busy: boolean };

/** A conversation as the page draws it. */
export function useTalk(about: Conversation, initial: Messages, onChange: (about: Conversation) => void): Talk {
  const { id } = about;
  const changed = useRef(onChange);
  changed.current = onChange;
  const line = useMemo(() => new Line(id, initial, (told) => changed.current(told)), [id]);
  const state = useSyncExternalStore(line.subscribe, () => line.state);

  // Only on opening, and only what runs: later the line itself knows what to take up.
  const [resume] = useState(about.running || isRunning(initial));
  const { messages, status } = useChat<Message>({ chat: line.chat, throttle: 40, resume });

  useTold((told) => {
    if (told.what === "conversation" && told.id === id && told.elsewhere) void line.refresh();
  });

  // Another tab follows as soon as there is something to follow.
  useEffect(() => {
    if (status === "streaming") tell({ what: "conversation", id });
  }, [status, id]);

  return {
    ...state,
    line,
    messages: useMemo(() => withParts(messages, state.before), [messages, state.before]),
    busy: status === "submitted" || status === "streaming",
  };
}
