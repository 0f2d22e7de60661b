#!/usr/bin/env node
// Starts the CLI on the Node that the project brings. Plain JavaScript that also an old Node can run.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED_MAJOR = 26;
// What lives shortly is cleared away sooner. Left alone, V8 takes some 50 MiB more for a process that has a fleet in memory
// (bench/sync.ts, bench/reflector.ts), and gains nothing that such a process could use.
const FLAGS = JSON.parse(readFileSync(new URL('node-flags.json', import.meta.url), 'utf8'));
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// A checkout runs its sources as they are; the package holds emitted JavaScript only.
const source = join(root, 'src', 'cli', 'main.ts');
const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js');

if (Number(process.versions.node.split('.')[0]) < NEEDED_MAJOR) restartWithOwnNode();
else if (process.execve && !FLAGS.every((flag) => process.execArgv.includes(flag))) restartWithFlags();
else await import(pathToFileURL(main).href);

/** In the same process: its id, its streams and its signals stay what they are. */
function restartWithFlags() {
  const { execPath, execArgv, argv, env } = process;
  process.execve(execPath, [execPath, ...execArgv, ...FLAGS, ...argv.slice(1)], env);
}

function restartWithOwnNode() {
  const node = ownNode();
  if (!node) {
    process.stderr.write(
      `error: kubenode needs Node ${NEEDED_MAJOR} or newer, and this is ${process.version}\n` +
        '  where: the package "node", which brings the right one, is not installed beside kubenode\n' +
        '  what to do: npm install, and let npm run the install script of the package "node" (allowScripts)\n',
    );
    process.exitCode = 69;
    return;
  }
  const child = spawn(node, [...FLAGS, main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches both processes from the terminal; a signal sent to this one alone is passed on.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
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
