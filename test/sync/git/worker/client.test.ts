import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLoopDelay } from '../../../../src/kube/process/loop-delay.ts';
import { openGit } from '../../../../src/sync/git/open.ts';
import type { GitTransport } from '../../../../src/sync/git/transport.ts';
import { eventually } from '../../../support/eventually.ts';
import { startGitHttpServer } from '../../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { noProcessWith, processesWith } from '../../../support/processes.ts';
import { tempFolder } from '../../../support/temp.ts';
import { openLocalGit } from '../conformance.ts';

const MIB = 1024 * 1024;

function openFile({ bare }: TestRepository, folder = join(tempFolder('git'), 'cache')): GitTransport {
  const git = openGit({ repository: `file://${bare}`, folder });
  onTestFinished(() => git.close());
  return git;
}

/** Adds files of zeros, which are small in a pack. */
function commitZeros(repository: TestRepository, sizes: readonly number[]): void {
  for (const [index, size] of sizes.entries()) {
    const input = Buffer.alloc(size);
    const args = ['hash-object', '-w', '--stdin'];
    const oid = execFileSync('git', args, { cwd: repository.dir, input, encoding: 'utf8' }).trim();
    repository.git('update-index', '--add', '--cacheinfo', `100644,${oid},zeros-${index}`);
  }
  repository.git('commit', '--quiet', '-m', 'zeros');
  repository.push('origin', 'HEAD');
}

/**
 * A git that waits for ever when it is called with this subcommand for the first time, and holds a lock. Returns the pid of the
 * process that started it.
 */
function installWaitingGit(subcommand: string, lock: string): { parent(): Promise<number> } {
  const bin = tempFolder('bin');
  const [git, mark] = [execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(bin, 'waits')];
  const script = `#!/bin/sh
for each in "$@"; do case "$each" in --git-dir=*) dir="\${each#--git-dir=}";; ${subcommand}) found=1;; esac; done
if [ -n "$found" ] && mkdir ${mark} 2>/dev/null; then
  mkdir -p "$(dirname "$dir/${lock}")" && : >"$dir/${lock}" && echo $PPID >${mark}/part && mv ${mark}/part ${mark}/parent
  exec sleep 1000
fi
exec ${git} "$@"
`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(mark, 'parent');
  const read = async (): Promise<number | undefined> =>
    existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  return { parent: () => eventually(read, `git ${subcommand} was not called`) };
}

describe('a transport with a worker', () => {
  it('SAF-5 holds up the event loop for a small part of the time that a large fetch over http takes', async () => {
    const root = tempFolder('http-root');
    const repository = createTestRepository(join(root, 'large'));
    repository.commit('first', { a: '1' });
    commitZeros(
      repository,
      [6, 7, 8, 9, 10, 11].map((size) => size * MIB),
    );
    const server = await startGitHttpServer({ root });
    onTestFinished(() => server.close());
    const optionsFor = (): { repository: string; folder: string } => ({
      repository: `${server.url}/large/fleet.git`,
      folder: join(tempFolder('git'), 'cache'),
    });
    const startMs = performance.now();
    const commit = await openLocalGit(optionsFor()).fetch('main');
    const localSeconds = (performance.now() - startMs) / 1000;

    const git = openGit(optionsFor());
    onTestFinished(() => git.close());
    const delay = createLoopDelay(5);
    expect(await git.fetch('main')).toBe(commit);
    const { max } = delay.read();
    delay.stop();
    expect(max).toBeLessThan(localSeconds / 2);
  });

  it('keeps the type, the code and the hint of an error', async () => {
    const repository = createTestRepository(tempFolder('file-root'));
    repository.commit('first', { a: '1' });
    const git = openFile(repository);
    await expect(git.fetch('none')).rejects.toMatchObject({
      name: 'GitError',
      code: 'NotFoundRef',
      hint: expect.any(String) as string,
    });
    const commit = await git.fetch('main');
    const folder = tempFolder('export');
    writeFileSync(join(folder, 'a'), '');
    const exported = git.exportTree(commit, folder);
    await expect(exported).rejects.toMatchObject({ code: 'EEXIST', path: join(folder, 'a') });
  });

  it('rejects a call that is canceled, and answers the next one', async () => {
    const repository = createTestRepository(tempFolder('file-root'));
    const commit = repository.commit('first', { a: '1' });
    const git = openFile(repository);
    const cancel = new AbortController();
    const fetching = git.fetch('main', cancel.signal);
    cancel.abort(new Error('closing'));
    await expect(fetching).rejects.toMatchObject({ code: 'Aborted' });
    expect(await git.fetch('main')).toBe(commit);
  });

  describe.each([
    ['init', 'config.lock'],
    ['fetch', 'shallow.lock'],
    ['fetch', 'refs/kubenode/refs/heads/main.lock'],
  ])('whose git %s holds %s', (subcommand, lock) => {
    it.each(['is canceled', 'loses its worker', 'is closed'])(
      'leaves no git and a usable repository when it %s',
      async (end) => {
        const repository = createTestRepository(tempFolder('file-root'));
        const commit = repository.commit('first', { a: '1' });
        const folder = join(tempFolder('git'), 'cache');
        const waiting = installWaitingGit(subcommand, lock);
        const git = openFile(repository, folder);
        const cancel = new AbortController();
        const fetching = git.fetch('main', cancel.signal);
        fetching.catch(() => undefined);
        const worker = await waiting.parent();
        if (end === 'is canceled') cancel.abort();
        else if (end === 'is closed') void git.close();
        else process.kill(worker, 'SIGKILL');
        await expect(fetching).rejects.toMatchObject({ code: 'Aborted' });
        expect(processesWith(folder)).toEqual([]);
        expect(await git.fetch('main')).toBe(commit);
      },
    );
  });

  it('rejects what is in progress when it is closed, leaves no process, and can be used again', async () => {
    const repository = createTestRepository(tempFolder('file-root'));
    const commit = repository.commit('first', { a: '1' });
    const folder = join(tempFolder('git'), 'cache');
    const git = openFile(repository, folder);
    const fetching = git.fetch('main');
    const closing = git.close();
    await expect(fetching).rejects.toMatchObject({ code: 'Aborted' });
    await closing;
    await noProcessWith(folder);
    expect(await git.fetch('main')).toBe(commit);
  });
});
