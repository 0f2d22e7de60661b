/** Runs the commands of a guide as they are printed there: in a folder of its own, with `kubectl` and `kubenode` as commands. */
import { execFile } from 'node:child_process';
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { tempFolder } from '../../support/temp.ts';
import type { InstalledServer } from '../api/installed-server.ts';

export interface GuideShell {
  readonly folder: string;
  /** For programs that run beside the shell. */
  readonly environment: NodeJS.ProcessEnv;
  /** Resolves to what the script prints. Rejects when one of its commands fails, and without a script. */
  run(script: string | undefined): Promise<string>;
}

export async function openGuideShell({ server }: Pick<InstalledServer, 'server'>): Promise<GuideShell> {
  const folder = tempFolder();
  const bin = tempFolder();
  await symlink(server.kubectl, join(bin, 'kubectl'));
  const main = resolve('src/cli/main.ts');
  await writeFile(join(bin, 'kubenode'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  await chmod(join(bin, 'kubenode'), 0o755);
  const PATH = [bin, process.env['PATH']].join(delimiter);
  const environment = { ...process.env, PATH, KUBECONFIG: server.kubeconfig, HOME: folder };
  return {
    folder,
    environment,
    async run(script = 'false') {
      const options = { cwd: folder, env: environment };
      return (await promisify(execFile)('bash', ['-euc', script], options)).stdout;
    },
  };
}

export interface GuideBlocks {
  readonly guide: string;
  /** How many the guide has: the tests name them by their number. */
  readonly count: number;
  /** The port that the guide names. */
  readonly printed: number;
  /** A free port, because tests run at the same time. */
  readonly port: number;
}

/** Returns the shell blocks of a guide, with another port. */
export async function shellBlocks({ guide, count, printed, port }: GuideBlocks): Promise<readonly string[]> {
  const text = await readFile(`docs/guides/${guide}.md`, 'utf8');
  const found = [...text.matchAll(/^```sh\n(?<code>[\s\S]*?)^```$/gm)];
  expect(found.length).toBe(count);
  return found.map(({ groups }) => (groups?.['code'] ?? '').trim().replaceAll(String(printed), String(port)));
}
