// Records every key of OpenClaw's own schema in keys.txt, one a line; `*` stands for any name or index.
//
//     NODE record.mjs FOLDER      FOLDER has node_modules/openclaw, as tests/run installs it
//
// NODE is the one that OpenClaw wants: FOLDER/node_modules/node/bin/node.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LARGEST = 64 << 20; // The schema has 2.4 MB.
const folder = process.argv[2];
if (!folder) {
  console.error("usage: record.mjs FOLDER");
  process.exit(64);
}
const openclaw = join(folder, "node_modules/openclaw");
const home = mkdtempSync(join(tmpdir(), "openclaw-keys-"));
const text = execFileSync(process.execPath, [join(openclaw, "openclaw.mjs"), "config", "schema"], {
  env: { PATH: process.env.PATH, HOME: home, OPENCLAW_STATE_DIR: join(home, "state") },
  maxBuffer: LARGEST,
});
rmSync(home, { recursive: true });

const keys = new Set();
function walk(node, path) {
  if (typeof node !== "object" || node === null) return;
  for (const [name, below] of Object.entries(node.properties ?? {})) {
    keys.add([...path, name].join("."));
    walk(below, [...path, name]);
  }
  for (const below of [node.additionalProperties, node.items].flat()) walk(below, [...path, "*"]);
  for (const word of ["anyOf", "oneOf", "allOf"]) for (const below of node[word] ?? []) walk(below, path);
}
walk(JSON.parse(text), []);
const { version } = JSON.parse(readFileSync(join(openclaw, "package.json"), "utf8"));
const lines = [`# OpenClaw ${version}: record.mjs wrote this.`, ...[...keys].sort()];
writeFileSync(new URL("keys.txt", import.meta.url), `${lines.join("\n")}\n`);
