/** `kubenode start` as a process that loses its reader, its terminal or its user's patience: no process of the fleet is left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { localFleet, shellEnv } from '../support/local-fleet.ts';
import { tempFolder } from '../support/temp.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const fleet = localFleet(tempFolder('start-interrupted'));

afterEach(() => fleet.clear());
afterAll(() => fleet.clear());

describe('kubenode start', () => {
  it('FST-10 stops what it started when the reader of its output ends, and exits with 0', async () => {
    const { child } = startHub();
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await ended(child)).toEqual([0, null]);
    expect(await fleet.processes()).toEqual([]);
  });

  it('FST-10 stops what it started at the end of its terminal', async () => {
    const { child, printed } = startHub();
    await printed('all processes are ready');
    child.kill('SIGHUP');
    await ended(child);
    expect(await fleet.processes()).toEqual([]);
  });

  it('FST-10 takes two quick Ctrl-C while it starts for one, and names what a later one leaves', async () => {
    const { child, printed, output } = startHub();
    await printed('starting hub/kube-apiserver');
    // Two of the same may arrive as one.
    child.kill('SIGINT');
    child.kill('SIGTERM');
    await ended(child);
    expect(output()).toContain('another Ctrl-C leaves processes behind, which kubenode local down ends');
    expect(await fleet.processes()).toEqual([]);
  });
});

describe('kubenode start after another one', () => {
  it('FST-10 takes over the fleet of one that was killed, and stops it at its end', async () => {
    const killed = startHub();
    await killed.printed('all processes are ready');
    killed.child.kill('SIGKILL');
    await ended(killed.child);
    expect(await fleet.processes()).not.toEqual([]);
    const { child, printed } = startHub();
    await printed('Ctrl-C stops the hub');
    child.kill('SIGINT');
    await ended(child);
    expect(await fleet.processes()).toEqual([]);
  });

  it('FST-10 is refused while one runs, also in the same moment, and leaves its processes alone', async () => {
    const both = [startHub(), startHub()];
    const refused = await Promise.race(both.map(async (hub) => ended(hub.child).then(() => hub)));
    expect(refused.output()).toContain('kubenode start runs this fleet already');
    const other = both.find((hub) => hub !== refused);
    await other?.printed('all processes are ready');
    expect(await fleet.processes()).not.toEqual([]);
    other?.child.kill('SIGINT');
    if (other) await ended(other.child);
    expect(await fleet.processes()).toEqual([]);
  });
});

interface Hub {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly printed: (text: string) => Promise<void>;
}

function startHub(): Hub {
  const args = [MAIN, 'start', '--dir', fleet.dir];
  const env = { ...shellEnv(), CI: '1' };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  }
  const patience = { interval: 20 };
  return {
    child,
    output: () => output,
    printed: async (text) => {
      await expect.poll(() => output, patience).toContain(text);
    },
  };
}

async function ended(child: ChildProcess): Promise<readonly unknown[]> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return [code, signal];
}
