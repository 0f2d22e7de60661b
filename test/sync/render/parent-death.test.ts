/** What a killed process leaves behind: nothing that runs, and no folder for longer than until the next start. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endWithParent } from '../../../src/os/worker/child-prefix.ts';
import { createFleetRepository, program } from '../../support/fleet-repository.ts';
import { niceOf, noProcessWith, processWith } from '../../support/processes.ts';
import { tempFolder } from '../../support/temp.ts';

const SUPPORT = pathToFileURL(join(import.meta.dirname, '../../support/fleet-repository.ts')).href;

interface Parent {
  readonly process: ChildProcess;
  /** Its folder for temporary files, which is in the command line of what it starts. */
  readonly temporary: string;
}

/** A process that renders a commit whose program never ends. */
function startParent(body: string): Parent {
  const repository = createFleetRepository();
  repository.commit('endless', { 'main.ts': program(body) });
  const temporary = tempFolder('parent');
  const script = join(tempFolder('script'), 'parent.ts');
  writeFileSync(
    script,
    `import { createTestRenderer } from '${SUPPORT}';
     import { openGit } from '${import.meta.resolve('../../../src/sync/git/open.ts')}';
     const git = openGit({ repository: 'file://${repository.bare}', folder: '${join(temporary, 'git')}' });
     await createTestRenderer({ compileCache: undefined }).commit({ git, commit: await git.fetch('main') });`,
  );
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: temporary };
  const child = spawn(process.execPath, ['--no-warnings', script], { env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { process: child, temporary };
}

function foldersOf(temporary: string): string[] {
  return readdirSync(temporary).filter((name) => name.startsWith('kubenode-'));
}

describe('a render whose process is killed', () => {
  it.each([
    ['is busy', 'for (;;);'],
    ['is idle', 'setInterval(() => {}, 1000); await new Promise(() => {});'],
  ])('has a low priority, ends with it, and its folder is removed, while the program %s', async (_, body) => {
    const parent = startParent(body);
    const harness = await processWith(parent.temporary, 'harness/main');
    expect(niceOf(harness)).toBeGreaterThanOrEqual(10);
    parent.process.kill('SIGKILL');
    await noProcessWith(parent.temporary);
    expect(foldersOf(parent.temporary)).toEqual([]);
  });

  it.skipIf(endWithParent().length === 0)('SAF-7 ends with its worker, when that is killed', async () => {
    const parent = startParent('for (;;);');
    await processWith(parent.temporary, 'harness/main');
    process.kill(await processWith(parent.temporary, 'render/worker/main'), 'SIGKILL');
    await noProcessWith(parent.temporary);
    expect(parent.process.exitCode).not.toBe(0);
  });
});
