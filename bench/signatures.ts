/** Signatures of 1,000 commits, verified as sync does before a render, against the same commits as `git log` reads them. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackend } from '../src/sync/git/backend.ts';
import { createGitTransport } from '../src/sync/git/repository.ts';
import type { GitTransport, SignatureQuestion } from '../src/sync/git/transport.ts';
import { createTestRepository, type TestRepository } from '../test/support/git-server/repository.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const COMMITS = 1000;
/** Fewer: gpg needs much longer to sign than sync to verify. */
const OPENPGP_COMMITS = 100;
const ROUNDS = 5;
const KEYS = 'keys/signers';
const REF = 'refs/heads/main';

export const bench: Bench = {
  name: 'signatures',
  what: 'the SSH signatures of 1,000 commits, and OpenPGP ones of 100, verified as sync does, against a log of the same commits by git',
  run,
};

async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'kubenode-bench-signatures-'));
  try {
    const ssh = await roundsOf(join(folder, 'ssh'), sshKey, COMMITS);
    return resultOf(ssh, await roundsOf(join(folder, 'openpgp'), openpgpKey, OPENPGP_COMMITS));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Rounds {
  readonly verifySeconds: readonly number[];
  readonly logSeconds: readonly number[];
}

async function roundsOf(
  folder: string,
  createKey: (folder: string) => Promise<Key>,
  commits: number,
): Promise<Rounds> {
  await mkdir(folder, { mode: 0o700 });
  const repository = createTestRepository(folder);
  const key = await createKey(folder);
  try {
    const before = signedCommits(repository, key, commits);
    const cache = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
    const git = createGitTransport(createBackend(cache));
    try {
      return await verifyRounds(git, repository, { before, commits });
    } finally {
      await git.close();
    }
  } finally {
    key.close();
  }
}

function resultOf({ verifySeconds, logSeconds }: Rounds, openpgp: Rounds): BenchResult {
  const [verify, log] = [percentile(verifySeconds, 0.5), percentile(logSeconds, 0.5)];
  const most = Math.max(...verifySeconds);
  const openpgpCommitsPerSecond = OPENPGP_COMMITS / percentile(openpgp.verifySeconds, 0.5);
  return {
    measured: {
      verifySeconds: verify,
      mostSeconds: most,
      commitsPerSecond: COMMITS / verify,
      openpgpCommitsPerSecond,
    },
    baseline: { gitLogSeconds: log },
    ratios: { toGitLog: verify / log },
    gates: [
      { what: `seconds to verify the signatures of ${COMMITS} commits, the most`, value: most, atMost: 2 },
      {
        what: `seconds to verify the OpenPGP signatures of ${OPENPGP_COMMITS} commits, the most`,
        value: Math.max(...openpgp.verifySeconds),
        atMost: 1,
      },
    ],
    setting: { commits: COMMITS, openpgpCommits: OPENPGP_COMMITS, rounds: ROUNDS },
  };
}

interface Key {
  /** What the file of signers has. */
  readonly entry: string;
  /** Flags of git, before its command. */
  readonly flags: readonly string[];
  readonly close: () => void;
}

async function sshKey(folder: string): Promise<Key> {
  const key = join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', key]);
  const entry = `ann@example.com ${await readFile(`${key}.pub`, 'utf8')}`;
  return { entry, flags: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`], close: () => undefined };
}

async function openpgpKey(folder: string): Promise<Key> {
  const [home, program] = [join(folder, 'gpg'), join(folder, 'run-gpg')];
  await mkdir(home, { mode: 0o700 });
  await writeFile(program, `#!/bin/sh\nexec gpg --homedir ${home} --batch --no-tty "$@"\n`, { mode: 0o755 });
  const gpg = (...args: string[]): string => execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });
  gpg('--passphrase', '', '--quick-gen-key', 'ann <ann@example.com>', 'ed25519', 'sign', 'never');
  const flags = ['-c', 'gpg.format=openpgp', '-c', `gpg.program=${program}`, '-c', 'user.signingkey=ann'];
  const close = (): void => {
    execFileSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent'], { stdio: 'ignore' });
  };
  return { entry: gpg('--armor', '--export', 'ann'), flags, close };
}

/** Returns the commit that is accepted already. Each commit after it has a signature of its own, over one key. */
function signedCommits(repository: TestRepository, { entry, flags }: Key, commits: number): string {
  const before = repository.commit('base', { [KEYS]: entry });
  const tree = repository.git('rev-parse', 'HEAD^{tree}');
  let head = before;
  for (let index = 0; index < commits; index += 1) {
    head = repository.git(...flags, 'commit-tree', '-S', tree, '-p', head, '-m', `commit ${index}`);
  }
  repository.git('reset', '--quiet', '--hard', head);
  repository.push('origin', 'HEAD');
  return before;
}

interface Expected {
  /** The commit that is accepted already. */
  readonly before: string;
  /** How many commits come after it. */
  readonly commits: number;
}

/** Both in turn, so that other load on this machine affects both equally. */
async function verifyRounds(
  git: GitTransport,
  repository: TestRepository,
  { before, commits: expected }: Expected,
): Promise<Rounds> {
  const head = await git.fetch(REF);
  const signers = [{ name: 'people', keysPath: KEYS, paths: [] }];
  const question: SignatureQuestion = { mode: 'Range', head, before, ref: REF, signers, now: new Date(NOW) };
  const rounds: { verify: number; log: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const verify = await secondsOf(async () => {
      const { commits, refused } = await git.signatures(question);
      const isRefused = refused > 0 || commits !== expected;
      if (isRefused) throw new Error(`${refused} of ${commits} commits are refused`);
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
