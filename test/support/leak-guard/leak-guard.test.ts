import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../temp.ts';
import { bootTicks, isAlive, listeners, processesOf, socketInodes } from './leaks.ts';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

interface Outcome {
  readonly file: string;
  readonly state: string;
  readonly message: string;
}

// Only Linux has /proc; elsewhere only folders are guarded.
describe.runIf(process.platform === 'linux').each([
  ['a process for each file', '--isolate'],
  ['files that share a process', '--no-isolate'],
])('the leak guard, with %s', (_, isolation) => {
  const { status, stdout, stderr } = runFixtures(isolation);
  const outcomes = new Map(stdout.split('\n').flatMap(parseOutcome));

  it('fails the file that leaks, and names the leaks', () => {
    const { state, message } = outcomes.get('leaking') ?? {};
    expect(state).toBe('failed');
    expect(message).toMatch(/process \d+: .*setInterval/);
    expect(message).toMatch(/tcp port \d+/);
    expect(message).toMatch(/file or folder .*forgotten-/);
  });

  it('passes the other file, whose process ends as the file ends', () => {
    expect(outcomes.get('tidy')).toEqual({ file: 'tidy', state: 'passed', message: '' });
  });

  it('passes a file whose tests are all skipped, and removes what its import created', () => {
    expect(outcomes.get('skipped')).toEqual({ file: 'skipped', state: 'skipped', message: '' });
    expect(stderr.match(/file or folder .*/g)).toEqual([expect.stringMatching(/of-the-run-/)]);
  });

  it('fails the run when a leak belongs to no file', () => {
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /the test run leaks:\s+process \d+: .*setInterval[^\n]*\s+file or folder .*of-the-run-/,
    );
  });

  it('ends the processes that leaked', async () => {
    const pids = [...`${stdout}${stderr}`.matchAll(/process (\d+): /g)].map(([, pid]) => Number(pid));
    expect(pids.length).toBeGreaterThan(1);
    // The kernel may still be ending what was killed a moment ago.
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('what the kernel reports', () => {
  it('includes the ports that this process listens on, only while it listens', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const name = `tcp port ${typeof address === 'object' ? address?.port : ''}`;
    expect(listeners()).toContain(name);
    expect(listeners(socketInodes())).toEqual([]);
    await new Promise((resolve) => {
      server.close(resolve);
    });
    expect(listeners()).not.toContain(name);
  });

  it('does not count this process as its own child', () => {
    const family = processesOf('NO=such-mark', { parent: process.ppid }).map(({ pid }) => pid);
    expect(family).not.toContain(process.pid);
  });

  it('tells a child that started since a moment from one before it', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill());
    const [search, started] = [{ parent: process.pid }, bootTicks()];
    const found = (since: number): boolean =>
      processesOf('NO=such-mark', { ...search, since }).some(({ pid }) => pid === child.pid);
    expect(found(started - 6000)).toBe(true);
    // The moment may be some hundredths of a second early.
    expect(found(started + 6000)).toBe(false);
  });

  it('dates a process that starts now by the clock of the search', () => {
    const before = bootTicks();
    const { stdout } = spawnSync('cat', ['/proc/self/stat'], { encoding: 'utf8' });
    const started = Number(stdout.slice(stdout.lastIndexOf(')') + 2).split(' ')[19]);
    expect(started).toBeGreaterThanOrEqual(before);
    expect(started).toBeLessThan(before + 6000);
  });
});

function runFixtures(isolation: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [VITEST, 'run', isolation, '--root', FIXTURES], {
    encoding: 'utf8',
    env: { ...process.env, KUBENODE_LEAK_PATIENCE_MS: '300', CACHE_FOLDER: tempFolder('vite') },
  });
}

function parseOutcome(line: string): [string, Outcome][] {
  if (!line.startsWith('{')) return [];
  const outcome = JSON.parse(line) as Outcome;
  return [[outcome.file, outcome]];
}
