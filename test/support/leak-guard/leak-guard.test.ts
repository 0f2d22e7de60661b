import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../temp.ts';
import { isAlive, listeners, processesOf } from './leaks.ts';

const FIXTURES = fileURLToPath(new URL('fixtures', import.meta.url));
const VITEST = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

interface Outcome {
  readonly file: string;
  readonly state: string;
  readonly message: string;
}

// Linux: elsewhere there is no /proc to read, and only folders are guarded.
describe.runIf(process.platform === 'linux')('the leak guard', () => {
  const { status, stdout, stderr } = runFixtures();
  const outcomes = new Map(stdout.split('\n').flatMap(parseOutcome));

  it('fails the file that leaks, and says what', () => {
    const { state, message } = outcomes.get('leaking') ?? {};
    expect(state).toBe('failed');
    expect(message).toMatch(/process \d+: .*setInterval/);
    expect(message).toMatch(/tcp port \d+/);
    expect(message).toMatch(/file or folder .*forgotten-/);
  });

  it('leaves its neighbour alone, whose process ends as the file ends', () => {
    expect(outcomes.get('tidy')).toEqual({ file: 'tidy', state: 'passed', message: '' });
  });

  it('fails the run when what leaks belongs to no file', () => {
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /the test run leaks:\s+process \d+: .*setInterval[^\n]*\s+file or folder .*of-the-run-/,
    );
  });

  it('ends what leaked', () => {
    const pids = [...`${stdout}${stderr}`.matchAll(/process (\d+): /g)].map(([, pid]) => Number(pid));
    expect(pids.length).toBeGreaterThan(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('what the kernel tells', () => {
  it('names the ports that this process listens on, and only while it does', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const name = `tcp port ${typeof address === 'object' ? address?.port : ''}`;
    expect(listeners()).toContain(name);
    await new Promise((resolve) => {
      server.close(resolve);
    });
    expect(listeners()).not.toContain(name);
  });

  it('does not count this process among its own', () => {
    const family = processesOf('NO=such-mark', process.ppid).map(({ pid }) => pid);
    expect(family).not.toContain(process.pid);
  });
});

function runFixtures(): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [VITEST, 'run', '--root', FIXTURES], {
    encoding: 'utf8',
    env: { ...process.env, KUBENODE_LEAK_PATIENCE_MS: '300', CACHE_FOLDER: tempFolder('vite') },
  });
}

function parseOutcome(line: string): [string, Outcome][] {
  if (!line.startsWith('{')) return [];
  const outcome = JSON.parse(line) as Outcome;
  return [[outcome.file, outcome]];
}
