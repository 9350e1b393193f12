import type { Plugin, Rollup } from "vite";

/**
 * Lets the page load the files of a screen beside its own, which would name them only once it runs. For the screen that
 * most links lead to, and that the others lead on to.
 */
export function preloadScreen(module: string): Plugin {
  return {
    name: "preload-screen",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one): one is Rollup.OutputChunk => one.type === "chunk");
        const screen = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module));
        if (!screen) throw new Error(`there is no screen ${module}`);
        const wanted = new Set([screen]);
        for (const chunk of wanted) {
          for (const name of chunk.imports) {
            const imported = chunks.find(({ fileName }) => fileName === name);
            if (imported && !imported.isEntry) wanted.add(imported);
          }
        }
        const styles = [...wanted].flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])]);
        const link = (attrs: Record<string, string | boolean>) => ({ tag: "link", attrs, injectTo: "head" as const });
        const href = (name: string) => `console/assets/${name}`;
        return [
          ...[...wanted].map(({ fileName }) => link({ rel: "modulepreload", crossorigin: true, href: href(fileName) })),
          ...styles.map((name) => link({ rel: "preload", as: "style", crossorigin: true, href: href(name) })),
        ];
      },
    },
  };
}
