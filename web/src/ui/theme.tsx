import { useState } from "react";
import { Moon, Sun } from "./icons";

const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** Light or dark. What the system says, until somebody says otherwise. */
export function ThemeButton() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? system());
  const other = theme === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      className="btn-icon"
      aria-label={`Use ${other} colours`}
      title={`Use ${other} colours`}
      onClick={() => {
        document.documentElement.dataset.theme = other;
        localStorage.setItem("theme", other);
        setTheme(other);
      }}
    >
      {theme === "dark" ? <Sun /> : <Moon />}
    </button>
  );
}
