/**
 * For the whole run: a folder for the temporary folders of its test files, a mark for its processes, and a final
 * check after the global teardown. A plugin, because vitest runs the close hooks of plugins last.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';
import type { Vitest } from 'vitest/node';
import { prefixOf } from '../node-kit/marks.ts';
import { end, isAlive, mountsUnder, networkInterfaces, processesOf, RUN_FOLDER, RUN_MARK } from './leaks.ts';
import { untilClean } from './until-clean.ts';

const PREFIX = 'kubenode-run-';

export function leakGuard(): Plugin {
  return {
    name: 'kubenode-leak-guard',
    configureVitest: ({ vitest }: { readonly vitest: Vitest }) => {
      endKilledRuns();
      vitest.onClose(startGuard());
    },
  };
}

function startGuard(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const mark = folder.slice(folder.indexOf(PREFIX) + PREFIX.length);
  process.env[RUN_FOLDER] = folder;
  process.env[RUN_MARK] = mark;

  const ours = (): ReturnType<typeof processesOf> =>
    processesOf(`${RUN_MARK}=${mark}`, { parent: process.pid });

  return async () => {
    const leaks = await untilClean(() => [
      ...ours().map(({ pid, command }) => `process ${pid}: ${command}`),
      ...mountsUnder(folder).map((target) => `mount ${target}`),
      ...leftIn(folder).map((path) => `file or folder ${path}`),
      ...networkInterfaces(prefixOf(process.pid)).map((name) => `interface ${name}`),
    ]);
    end(ours());
    remove(folder);
    if (leaks.length > 0) throw new Error(`the test run leaks:\n  ${leaks.join('\n  ')}`);
  };
}

/** The folder of a file whose import failed remains, empty: not a leak, and already an error. */
function leftIn(folder: string): string[] {
  const paths = readdirSync(folder).map((name) => join(folder, name));
  return paths.filter((path) => !statSync(path).isDirectory() || readdirSync(path).length > 0);
}

/** A killed run could not clean up: the next run does, and recognizes it by the process id in the name. */
function endKilledRuns(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const mark = name.slice(PREFIX.length);
    const owner = Number(mark.split('-')[0]);
    if (isAlive(owner)) continue;
    end(processesOf(`${RUN_MARK}=${mark}`));
    remove(join(tmpdir(), name));
  }
}

/** Never through a mount: the mounted files are not ours to delete. */
function remove(folder: string): void {
  // Two runs that begin at once remove the same one.
  if (mountsUnder(folder).length === 0) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
