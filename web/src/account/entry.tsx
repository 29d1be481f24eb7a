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
    <SignInForm title={words.title} hint={words.hint} button={words.button} busy={busy} failure={failure} onSubmit={enter}>
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
    </SignInForm>
  );
}

/** Signs in with the start token, which the server printed when it was started. */
export function TokenEntry({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const [busy, setBusy] = useState(false);

  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await call("POST /api/token", { body: { token: tokenIn(token) } });
      onDone();
    } catch (error) {
      setFailure(failureFrom(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <SignInForm
      title="Enter the start token"
      hint="Open the address that `thinkwire serve` printed in its terminal, or paste the address or its token here."
      button="Continue"
      busy={busy}
      failure={failure}
      onSubmit={enter}
    >
      <Field label="Start token">
        <input className="field" type="password" autoComplete="off" autoFocus required value={token} onChange={(event) => setToken(event.target.value)} />
      </Field>
    </SignInForm>
  );
}

/** The token in what was pasted: the whole address, or the token alone. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  return /[?&]token=([^&#\s]+)/.exec(text)?.[1] ?? text;
}

type SignInFormProps = {
  title: string;
  hint: string;
  button: string;
  busy: boolean;
  failure: Failure | undefined;
  onSubmit: (event: FormEvent) => Promise<void>;
  children: ReactNode;
};

function SignInForm({ title, hint, button, busy, failure, onSubmit, children }: SignInFormProps) {
  return (
    <main className="flex min-h-full items-center justify-center p-6">
      <form className="card w-full max-w-sm space-y-5 p-7" onSubmit={(event) => void onSubmit(event)}>
        <div className="flex items-center gap-2.5">
          <img src="/icon.svg" alt="" className="size-7" />
          <span className="font-semibold tracking-tight">thinkwire</span>
        </div>
        <div>
          <h1 className="text-xl font-semibold">{title}</h1>
          {hint && <p className="hint mt-1">{hint}</p>}
        </div>
        {children}
        {failure && <Trouble failure={failure} />}
        <button type="submit" className="btn btn-main w-full" disabled={busy}>
          {button}
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
