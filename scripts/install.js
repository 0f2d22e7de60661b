// Runs `npm ci` when node_modules is missing or is not what package-lock.json states: `npm start` and `npm test` of a fresh clone, or after a
// pull, need no other command before them. Plain JavaScript without packages: any Node runs it before there are any.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const bundledNode = `${root}node_modules/.bin/node`;
const reason = installReason();
if (reason) {
  process.stdout.write(`${reason}: running npm ci, which takes about 20 seconds\n`);
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (error) {
    process.stderr.write(
      `error: npm could not be started: ${error.message}\n  hint: run npm ci in ${root}\n`,
    );
  }
  process.exitCode = status ?? 1;
  if (status === 0 && !existsSync(bundledNode)) {
    process.stderr.write(
      'error: the npm package "node" did not install its program\n  hint: allow install scripts (npm config get ignore-scripts), and run npm ci again\n',
    );
    process.exitCode = 1;
  }
}

/** Why node_modules is not complete; undefined if it is. npm records there what it installed. */
function installReason() {
  const installed = readPackages('node_modules/.package-lock.json');
  if (!installed || !existsSync(bundledNode)) return 'node_modules is missing or incomplete';
  const locked = readPackages('package-lock.json') ?? {};
  const [changed] =
    Object.entries(locked).find(([path, entry]) => path !== '' && differs(entry, installed[path])) ?? [];
  if (changed) return `${changed} is not as in package-lock.json`;
  const surplus = Object.keys(installed).find((path) => !locked[path]);
  return surplus && `${surplus} is not in package-lock.json`;
}

/**
 * An optional package is missing on the platforms that it does not support. complete-lock.js adds those of other platforms without a
 * checksum, which npm records when it installs them.
 */
function differs(locked, installed) {
  if (!installed) return !locked.optional && !locked.devOptional;
  const { version, integrity = installed.integrity } = locked;
  return installed.version !== version || installed.integrity !== integrity;
}

function readPackages(name) {
  const file = `${root}${name}`;
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined; // half written by an npm that was killed
  }
}
