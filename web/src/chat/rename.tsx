import { useState } from "react";
import { call, failureFrom } from "../api/client";
import type { ConversationItem } from "../api/types";
import { Dialog } from "../ui/dialog";
import { tell } from "../ui/hooks";
import { useSay } from "../ui/toasts";

export function Rename(props: { conversation: ConversationItem; onClose: () => void; onSaved?: () => void }) {
  const [title, setTitle] = useState(props.conversation.title ?? "");
  const say = useSay();
  const save = async () => {
    try {
      await call("PATCH /api/conversations/{id}", { path: props.conversation, body: { title: title.trim() } });
      tell({ what: "conversations" });
      props.onSaved?.();
      props.onClose();
    } catch (error) {
      say(failureFrom(error).message);
    }
  };
  return (
    <Dialog title="Rename" onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="label" htmlFor="title">
          Title
        </label>
        <input id="title" className="field" autoFocus maxLength={200} value={title} onChange={(event) => setTitle(event.target.value)} />
        <div className="mt-5 flex justify-end gap-2">
          <button type="button" className="btn btn-quiet" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" className="btn btn-main" disabled={!title.trim()}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
