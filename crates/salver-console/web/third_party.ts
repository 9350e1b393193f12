import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

/** Writes the licences of all packages whose code is in the bundle to `third_party.txt`, as these licences ask for. */
export function thirdParty(): Plugin {
  return {
    name: "third-party",
    generateBundle(_options, bundle) {
      const packages = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const id of Object.keys(chunk.modules)) {
          const found = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
          if (found) packages.add(found);
        }
      }
      const texts = [...packages].map(describe).sort();
      this.emitFile({ type: "asset", fileName: "third_party.txt", source: `${texts.join(`\n${"-".repeat(80)}\n\n`)}` });
    },
  };
}

function describe(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Record<string, string>;
  const file = existsSync(directory) ? readdirSync(directory).find((one) => /^licen[cs]e/i.test(one)) : undefined;
  const text = file ? readFileSync(join(directory, file), "utf8").replace(/\r\n/g, "\n").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n`;
}
