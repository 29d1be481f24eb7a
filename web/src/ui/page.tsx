import type { ReactNode } from "react";

/** A page of reading width that scrolls by itself. */
export function Page({ children }: { children: ReactNode }) {
  return (
    <div className="h-full overflow-y-auto">
      <div className="page max-md:pt-16">{children}</div>
    </div>
  );
}
