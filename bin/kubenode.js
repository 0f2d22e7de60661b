#!/usr/bin/env node
// Starts the CLI on the Node that the project brings. Plain JavaScript that also an old Node can run.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED_MAJOR = 26;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const emitted = join(root, 'dist', 'cli', 'main.js');
const main =
  existsSync(emitted) && root.includes('node_modules') ? emitted : join(root, 'src', 'cli', 'main.ts');

if (Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR) {
  await import(pathToFileURL(main).href);
} else {
  restartWithOwnNode();
}

function restartWithOwnNode() {
  const node = ownNode();
  if (!node) {
    process.stderr.write(
      `kubenode needs Node ${NEEDED_MAJOR} or newer, this is ${process.version}, and the package "node" that brings it is not installed.\n` +
        'Install it: npm install (in the project), and let npm run the install script of the package "node".\n',
    );
    process.exitCode = 69;
    return;
  }
  const { status, signal } = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}

function ownNode() {
  try {
    const packageJson = createRequire(import.meta.url).resolve('node/package.json');
    const binary = join(dirname(packageJson), 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
