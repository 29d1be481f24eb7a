import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.THINKWIRE_SERVER ?? "http://127.0.0.1:8018";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  build: {
    outDir: "../src/thinkwire/web/static",
    emptyOutDir: true,
    assetsDir: "assets",
    // The page may load nothing that is not a file of its own server, so nothing is put inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
  },
  // The server takes the start token out of the address.
  server: { proxy: { "/api": server, "^/\\?token=": server } },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"], setupFiles: ["tests/setup.ts"] },
});
