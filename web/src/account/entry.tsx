import { type FormEvent, type ReactNode, useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Failure } from "../api/types";
import { Trouble } from "../ui/trouble";

type Kind = "login" | "setup" | "join";

const WORDS: Record<Kind, { title: string; hint: string; button: string; operation: "POST /api/login" | "POST /api/setup" | "POST /api/join" }> = {
  login: { title: "Sign in", hint: "", button: "Sign in", operation: "POST /api/login" },
  setup: {
    title: "Welcome",
    hint: "Nobody has an account here yet. The first one can invite the others.",
    button: "Make the first account",
    operation: "POST /api/setup",
  },
  join: { title: "You are invited", hint: "Choose a name and a password.", button: "Join", operation: "POST /api/join" },
};

/** The door: signing in, the first account, or an invitation. */
export function Entry(props: { kind: Kind; token?: string; onDone: () => void }) {
  const words = WORDS[props.kind];
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);
  const fresh = props.kind !== "login";

  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const body = { name: name.trim(), password };
      await (props.token ? call("POST /api/join", { body: { ...body, token: props.token } }) : call(words.operation, { body }));
      props.onDone();
    } catch (error) {
      setFailure(failureFrom(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="flex min-h-full items-center justify-center p-6">
      <form className="card w-full max-w-sm space-y-5 p-7" onSubmit={enter}>
        <div className="flex items-center gap-2.5">
          <img src="/icon.svg" alt="" className="size-7" />
          <span className="font-semibold tracking-tight">thinkwire</span>
        </div>
        <div>
          <h1 className="text-xl font-semibold">{words.title}</h1>
          {words.hint && <p className="hint mt-1">{words.hint}</p>}
        </div>
        <Field label="Name">
          <input className="field" autoComplete="username" autoFocus required value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Password">
          <input
            className="field"
            type="password"
            autoComplete={fresh ? "new-password" : "current-password"}
            required
            minLength={fresh ? 8 : undefined}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
        {failure && <Trouble failure={failure} />}
        <button type="submit" className="btn btn-main w-full" disabled={busy}>
          {words.button}
        </button>
      </form>
    </main>
  );
}

export function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label className="block">
      <span className="label">{label}</span>
      {children}
    </label>
  );
}
