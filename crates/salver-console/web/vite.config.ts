import { defineConfig } from "vite";
import { preloadScreen } from "./preload_screen";
import { thirdParty } from "./third_party";

// The server puts its base path into <base>, so the page names its assets relative to that; chunks name each other
// relative to themselves.
export default defineConfig({
  base: "./",
  plugins: [preloadScreen("/src/entry/screen.tsx"), thirdParty()],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  experimental: {
    renderBuiltUrl(filename, { hostType }) {
      return hostType === "html" ? `console/assets/${filename}` : { relative: true };
    },
  },
  build: {
    outDir: "../assets",
    emptyOutDir: true,
    assetsDir: "",
    target: "es2022",
    modulePreload: { polyfill: false },
    // The policy of the page allows no data: URL for anything but pictures.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
});
