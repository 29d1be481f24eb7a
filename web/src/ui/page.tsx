import type { ReactNode } from "react";

/** A page of reading width, or of a table's, that scrolls by itself. */
export function Page({ wide, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className="h-full overflow-y-auto">
      <div className={`page max-md:pt-16 ${wide ? "max-w-5xl" : ""}`}>{children}</div>
    </div>
  );
}
