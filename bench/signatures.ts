/** Signatures of 1,000 commits, verified as sync does before a render, against the same commits as `git log` reads them. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackend } from '../src/sync/git/backend.ts';
import { createGitTransport } from '../src/sync/git/repository.ts';
import type { GitTransport, SignatureQuestion } from '../src/sync/git/transport.ts';
import { createTestRepository, type TestRepository } from '../test/support/git-server/repository.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const COMMITS = 1000;
const ROUNDS = 5;
const KEYS = 'keys/signers';
const REF = 'refs/heads/main';

export const bench: Bench = {
  name: 'signatures',
  what: 'the SSH signatures of 1,000 commits, verified as sync does, against a log of the same commits by git',
  run,
};

async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-signatures-'));
  try {
    const repository = createTestRepository(folder);
    const before = await signedCommits(repository, folder);
    const cache = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
    const git = createGitTransport(createBackend(cache));
    try {
      return resultOf(await verifyRounds(git, repository, before));
    } finally {
      await git.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Rounds {
  readonly verifySeconds: readonly number[];
  readonly logSeconds: readonly number[];
}

function resultOf({ verifySeconds, logSeconds }: Rounds): BenchResult {
  const [verify, log] = [percentile(verifySeconds, 0.5), percentile(logSeconds, 0.5)];
  const most = Math.max(...verifySeconds);
  return {
    measured: { verifySeconds: verify, mostSeconds: most, commitsPerSecond: COMMITS / verify },
    baseline: { gitLogSeconds: log },
    ratios: { toGitLog: verify / log },
    gates: [
      { what: `seconds to verify the signatures of ${COMMITS} commits, the most`, value: most, atMost: 2 },
    ],
    setting: { commits: COMMITS, rounds: ROUNDS },
  };
}

/** Returns the commit that is accepted already. Each commit after it has a signature of its own, over one key. */
async function signedCommits(repository: TestRepository, folder: string): Promise<string> {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', key]);
  const entry = `ann@example.com ${await readFile(`${key}.pub`, 'utf8')}`;
  const before = repository.commit('base', { [KEYS]: entry });
  const flags = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`];
  const tree = repository.git('rev-parse', 'HEAD^{tree}');
  let head = before;
  for (let index = 0; index < COMMITS; index += 1) {
    head = repository.git(...flags, 'commit-tree', '-S', tree, '-p', head, '-m', `commit ${index}`);
  }
  repository.git('reset', '--quiet', '--hard', head);
  repository.push('origin', 'HEAD');
  return before;
}

/** Both in turn, so that other load on this machine affects both equally. */
async function verifyRounds(git: GitTransport, repository: TestRepository, before: string): Promise<Rounds> {
  const head = await git.fetch(REF);
  const signers = [{ name: 'people', keysPath: KEYS, paths: [] }];
  const question: SignatureQuestion = { mode: 'Range', head, before, ref: REF, signers, now: new Date(NOW) };
  const rounds: { verify: number; log: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const verify = await secondsOf(async () => {
      const { commits, refused } = await git.signatures(question);
      if (refused > 0 || commits !== COMMITS) throw new Error(`${refused} of ${commits} commits are refused`);
    });
    const log = await secondsOf(() => repository.git('log', '--format=%H %T %P %s', `${before}..${head}`));
    rounds.push({ verify, log });
  }
  return {
    verifySeconds: rounds.map(({ verify }) => verify),
    logSeconds: rounds.map(({ log }) => log),
  };
}

/** After the times of the commits, which are fixed. */
const NOW = '2031-01-01T00:00:00Z';

async function secondsOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
