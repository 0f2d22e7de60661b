/**
 * Round the whole run: a temporary folder of its own, a mark for its processes, and a last look when everything is
 * torn down. A plugin, because vitest closes plugins' hooks after every global teardown.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Plugin } from 'vitest/config';
import type { Vitest } from 'vitest/node';
import { mountsUnder, networkInterfaces, processesOf, RUN_MARK } from './leaks.ts';
import { untilClean } from './until-clean.ts';

export function leakGuard(): Plugin {
  return {
    name: 'kubenode-leak-guard',
    configureVitest: ({ vitest }: { readonly vitest: Vitest }) => {
      vitest.onClose(startGuard());
    },
  };
}

/** Every program that a test starts asks os.tmpdir() or $TMPDIR: one folder catches what all of them forget. */
function startGuard(): () => Promise<void> {
  const outside = process.env['TMPDIR'];
  const folder = mkdtempSync(join(tmpdir(), 'kubenode-run-'));
  const mark = folder.slice(-6);
  process.env['TMPDIR'] = folder;
  process.env[RUN_MARK] = mark;

  return async () => {
    const look = (): string[] => [
      ...leftProcesses(mark).map(({ pid, command }) => `process ${pid}: ${command}`),
      ...mountsUnder(folder).map((target) => `mount ${target}`),
      ...readdirSync(folder).map((name) => `file or folder ${join(folder, name)}`),
      ...networkInterfaces()
        .filter((name) => name.startsWith(`kn${mark}`)) // bridges of the node kit
        .map((name) => `interface ${name}`),
    ];
    const leaks = await untilClean(look);
    for (const { pid } of leftProcesses(mark)) process.kill(pid, 'SIGKILL');
    if (mountsUnder(folder).length === 0) rmSync(folder, { recursive: true, force: true });
    if (outside === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = outside;
    if (leaks.length > 0) throw new Error(`the test run leaks:\n  ${leaks.join('\n  ')}`);
  };
}

function leftProcesses(mark: string): ReturnType<typeof processesOf> {
  return processesOf(process.pid, `${RUN_MARK}=${mark}`);
}
