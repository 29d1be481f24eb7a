import { useState } from "react";
import { call, failureFrom } from "../api/client";
import type { Me, User } from "../api/types";
import { CopyButton } from "../ui/copy";
import { useLoaded, useTitle } from "../ui/hooks";
import { Trash } from "../ui/icons";
import { useSay } from "../ui/toasts";
import { Page } from "../ui/page";
import { Trouble } from "../ui/trouble";

async function loadUsers(): Promise<User[]> {
  return (await call("GET /api/users")).filter((user) => !user.removed);
}

/** Who may come in, and invitations for those who shall. */
export function UsersPage({ me }: { me: Me }) {
  const { value: users, failure, reload } = useLoaded(loadUsers, []);
  const [link, setLink] = useState("");
  const [leaving, setLeaving] = useState<string | null>(null);
  const say = useSay();
  useTitle("People");
  const invite = async () => {
    try {
      const { token } = await call("POST /api/invitations");
      setLink(`${location.origin}/#/join/${encodeURIComponent(token)}`);
    } catch (error) {
      say(failureFrom(error).message);
    }
  };
  const drop = async (user: User) => {
    try {
      await call("DELETE /api/users/{id}", { path: user });
      say(`${user.name} can no longer sign in.`);
      await reload();
    } catch (error) {
      say(failureFrom(error).message);
    }
    setLeaving(null);
  };
  return (
    <Page>
      <div className="flex items-center justify-between gap-4">
        <h1 className="text-2xl font-semibold">People</h1>
        <button type="button" className="btn btn-main" onClick={() => void invite()}>
          Invite somebody
        </button>
      </div>
      {link && (
        <div className="card mt-6 flex items-center gap-2 py-2 pr-2 pl-4">
          <code className="min-w-0 flex-1 truncate font-mono text-[13px]">{link}</code>
          <CopyButton text={link} />
        </div>
      )}
      {link && <p className="hint mt-2">Whoever has this link can join once. It is shown only now.</p>}
      {failure && (
        <div className="mt-6">
          <Trouble failure={failure} />
        </div>
      )}
      <ul className="mt-6 space-y-3">
        {users?.map((user) => (
          <li key={user.id} className="card flex items-center gap-3 py-3 pr-3 pl-5">
            <span className="min-w-0 flex-1 truncate">{user.name}</span>
            {user.admin && <span className="text-[13px] text-soft">admin</span>}
            {leaving === user.id ? (
              <button type="button" className="btn btn-danger" autoFocus onBlur={() => setLeaving(null)} onClick={() => void drop(user)}>
                Remove {user.name}
              </button>
            ) : (
              <button
                type="button"
                className="btn-icon"
                aria-label={`Remove ${user.name}`}
                disabled={user.id === me.user?.id}
                onClick={() => setLeaving(user.id)}
              >
                <Trash />
              </button>
            )}
          </li>
        ))}
      </ul>
    </Page>
  );
}
