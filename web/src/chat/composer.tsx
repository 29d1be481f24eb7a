import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Uploaded } from "../api/types";
import { Clip, Close, File, Send, Stop } from "../ui/icons";
import { useSay } from "../ui/toasts";
import { size } from "../ui/words";
import type { Draft } from "./line";

type Props = { busy: boolean; onSend: (draft: Draft) => void; onStop: () => void; children?: ReactNode; autoFocus?: boolean };

/** Where the reader writes. Enter sends, Shift+Enter makes a new line, Escape stops an answer. */
export function Composer({ busy, onSend, onStop, children, autoFocus }: Props) {
  const [text, setText] = useState("");
  const { files, uploading, add, drop, clear } = useFiles();
  const [over, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const ready = !busy && !uploading && (text.trim() !== "" || files.length > 0);

  useEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
  }, [text]);

  const send = () => {
    if (!ready) return;
    onSend({ text, files });
    setText("");
    clear();
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && busy) onStop();
  };
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length) {
      event.preventDefault();
      add(event.clipboardData.files);
    }
  };
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    add(event.dataTransfer.files);
  };

  return (
    <form
      className={`rounded-2xl border bg-raised p-2 shadow-sm transition-colors focus-within:border-accent ${over ? "border-accent bg-tint" : "border-line"}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
    >
      {files.length > 0 && (
        <ul className="flex flex-wrap gap-2 px-1 pt-1 pb-2" aria-label="Attached files">
          {files.map((file) => (
            <li key={file.file_id} className="flex items-center gap-2 rounded-lg bg-panel py-1 pr-1 pl-2 text-[13px]">
              <File className="size-4" />
              <span className="max-w-44 truncate">{file.name}</span>
              <span className="text-soft">{size(file.size)}</span>
              <button type="button" className="btn-icon size-6" aria-label={`Remove ${file.name}`} onClick={() => drop(file.file_id)}>
                <Close className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={area}
        rows={1}
        value={text}
        autoFocus={autoFocus}
        aria-label="Message"
        placeholder="Ask anything"
        className="block max-h-60 w-full resize-none bg-transparent px-2.5 py-1.5 outline-none"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={key}
        onPaste={paste}
      />
      <div className="flex items-center gap-1 pt-1">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Choose files"
          onChange={(event) => {
            if (event.target.files) add(event.target.files);
            event.target.value = "";
          }}
        />
        <button type="button" className="btn-icon" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}>
          <Clip />
        </button>
        <div className="flex min-w-0 flex-1 items-center gap-1">{children}</div>
        {busy ? (
          <button type="button" className="btn btn-main size-9 px-0" aria-label="Stop" title="Stop (Esc)" onClick={onStop}>
            <Stop />
          </button>
        ) : (
          <button type="submit" className="btn btn-main size-9 px-0" aria-label="Send" title="Send (Enter)" disabled={!ready}>
            <Send />
          </button>
        )}
      </div>
    </form>
  );
}

function useFiles() {
  const [files, setFiles] = useState<Uploaded[]>([]);
  const [pending, setPending] = useState(0);
  const say = useSay();
  const add = (chosen: FileList) => {
    for (const file of chosen) {
      const form = new FormData();
      form.append("file", file, file.name);
      setPending((count) => count + 1);
      call("POST /api/files", { body: form })
        .then((kept) => setFiles((all) => [...all, kept]))
        .catch((error) => say(`${file.name}: ${failureFrom(error).message}`))
        .finally(() => setPending((count) => count - 1));
    }
  };
  return {
    files,
    uploading: pending > 0,
    add,
    drop: (id: string) => setFiles((all) => all.filter((file) => file.file_id !== id)),
    clear: () => setFiles([]),
  };
}
