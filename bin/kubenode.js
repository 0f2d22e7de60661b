#!/usr/bin/env node
// Starts the CLI with the required version of Node.js. Plain JavaScript, so that old versions can run this file.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { constants, homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const REQUIRED_MAJOR = 26;
// V8 flags for earlier collection: a young generation of at most 12 MiB, and a full collection when the heap has grown by a quarter,
// which V8 by default lets double. Without them a process with a fleet in memory takes 50 to 150 MiB more; they cost some CPU time
// (bench/sync.ts, bench/reflector.ts).
const FLAGS = JSON.parse(readFileSync(new URL('node-flags.json', import.meta.url), 'utf8'));
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// A checkout runs its sources; the package contains only emitted JavaScript.
const source = join(root, 'src', 'cli', 'main.ts');
const main = existsSync(source) ? source : join(root, 'dist', 'cli', 'main.js');

// Of the processes that this one starts, too.
process.env.NODE_COMPILE_CACHE ??= compiledFolder();
if (Number(process.versions.node.split('.')[0]) < REQUIRED_MAJOR) restartWithBundledNode();
else if (process.execve && !FLAGS.every((flag) => process.execArgv.includes(flag))) restartWithFlags();
else {
  nodeModule.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  await import(pathToFileURL(main).href);
}

/**
 * Node keeps compiled code here, so that a start needs half of the CPU time. In a checkout it also keeps the JavaScript of each
 * source file: the program that strips types is then not loaded, which saves 25 MiB. Without a writable folder, nothing is kept.
 */
function compiledFolder() {
  const { XDG_CACHE_HOME: cache = '', HOME: home } = process.env;
  return join(isAbsolute(cache) ? cache : join(home || homedir(), '.cache'), 'kubenode', 'compiled');
}

/** Replaces the current process, which keeps its id, streams and signals. */
function restartWithFlags() {
  const { execPath, execArgv, argv, env } = process;
  process.execve(execPath, [execPath, ...execArgv, ...FLAGS, ...argv.slice(1)], env);
}

function restartWithBundledNode() {
  const node = findBundledNode();
  if (!node) {
    process.stderr.write(
      `error: kubenode requires Node.js ${REQUIRED_MAJOR} or newer, got ${process.version}\n` +
        '  where: the npm package "node", which contains it, is not installed\n' +
        '  hint: run npm install, and allow the install script of the package "node" (allowScripts in package.json)\n',
    );
    process.exitCode = 69;
    return;
  }
  const child = spawn(node, [...FLAGS, main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C in a terminal reaches both processes; other signals are forwarded.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

function findBundledNode() {
  try {
    const packageJson = createRequire(import.meta.url).resolve('node/package.json');
    const binary = join(dirname(packageJson), 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
