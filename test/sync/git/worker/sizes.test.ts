/** Commits of gigabytes that are megabytes on the wire. Only in test:long: it takes a minute to create them. */
import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createLoopDelay } from '../../../../src/kube/process/loop-delay.ts';
import { openGit } from '../../../../src/sync/git/open.ts';
import { startGitHttpServer } from '../../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';

const MIB = 1024 * 1024;

interface Huge {
  readonly root: string;
  readonly repository: TestRepository;
  /** To compress the zeros: what they cost who handles all of them. */
  readonly seconds: number;
}

/** A repository whose last commit has one file of zeros, which git streams. */
function createHuge(bytes: number): Huge {
  const root = tempFolder('huge-root');
  const repository = createTestRepository(join(root, 'huge'));
  repository.commit('first', { a: '1' });
  const file = join(root, 'zeros');
  writeFileSync(file, '');
  truncateSync(file, bytes);
  const options = { cwd: repository.dir, encoding: 'utf8' } as const;
  const startMs = performance.now();
  const oid = execFileSync('git', ['-c', 'core.bigFileThreshold=1m', 'hash-object', '-w', file], options);
  const seconds = (performance.now() - startMs) / 1000;
  repository.git('update-index', '--add', '--cacheinfo', `100644,${oid.trim()},zeros`);
  repository.git('commit', '--quiet', '-m', 'zeros');
  repository.push('origin', 'HEAD');
  // As on a real server: it sends what it stores, and compresses nothing for a fetch.
  execFileSync('git', ['-c', 'core.bigFileThreshold=1m', 'repack', '-adq'], { cwd: repository.bare });
  return { root, repository, seconds };
}

describe.skipIf(!LONG).each([
  ['6 GiB', 6 * 1024 * MIB],
  ['300 MiB', 300 * MIB],
])(`a push of %s of zeros${LONG ? '' : ' (only in npm run test:long: three minutes)'}`, (_, bytes) => {
  let huge: Huge;
  beforeAll(() => {
    huge = createHuge(bytes);
  }, 1_200_000);

  it.each(['http', 'file'] as const)(
    'SAF-5 is refused by its size over %s, and takes neither the event loop nor the memory of sync',
    { timeout: 1_200_000 },
    async (scheme) => {
      const server = await startGitHttpServer({ root: huge.root });
      onTestFinished(() => server.close());
      const urls = {
        http: `${server.url}/huge/fleet.git`,
        file: pathToFileURL(huge.repository.bare).href,
      };
      const git = openGit({ repository: urls[scheme], folder: join(tempFolder('git'), 'cache') });
      onTestFinished(() => git.close());
      const before = process.memoryUsage.rss();
      const delay = createLoopDelay(5);
      await expect(git.fetch('main').then((commit) => git.exportTree(commit, tempFolder('export'))))
        .rejects //
        .toMatchObject({ name: 'GitError', code: 'TooLarge' });
      const { max } = delay.read();
      delay.stop();
      expect(max).toBeLessThan(huge.seconds / 2);
      expect(process.memoryUsage.rss() - before).toBeLessThan(128 * MIB);
    },
  );
});
