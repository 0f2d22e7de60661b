/** `kubenode start --demo` that is killed in each phase of its first start: the next one goes on, and `local down --wipe` leaves nothing. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { endMachines } from '../../src/cli/local/machines-folder.ts';
import { stopLocalFleet } from '../../src/local/fleet.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { packedTarball } from '../support/packed.ts';
import { processesWith } from '../support/processes.ts';
import { openRootless, type Rootless } from '../support/rootless.ts';
import { SEED } from '../support/sweep-size.ts';

/** What it prints when the phase begins, in this order. */
const PHASES = [
  'building the page of the console',
  'creating the repository',
  'starting etcd',
  'starting pre/kube-apiserver',
  'starting prod/kube-scheduler',
  'installing kubenode into',
  'A hub and three clusters are running',
  'MachineComponentSet general: ',
] as const;

describe('kubenode start --demo that is killed', () => {
  const clock = createSystemClock();
  let user: Rootless;
  let dir: string;

  beforeEach(async () => {
    user = openRootless('killed', inject('controlPlaneRun').binaries, await packedTarball());
    dir = join(user.folder, 'fleet');
  });
  afterEach(async () => {
    await endMachines(dir, clock);
    await stopLocalFleet({ dir, clock, onStep: () => undefined, wipe: true });
  });

  it('FST-10 is continued by the next one in every phase, and leaves nothing that down --wipe does not end', async () => {
    for (const phase of PHASES) expect(await killAt(phase)).toContain(phase);
    wipe();
  });

  const early = PHASES[SEED % 6] ?? PHASES[0];
  it(`FST-10 leaves nothing that down --wipe does not end: ${early}`, async () => {
    expect(await killAt(early)).toContain(early);
    wipe();
  });

  /** What it printed until then. */
  async function killAt(phase: string): Promise<string> {
    const args = [user.main, 'start', '--demo', join(user.folder, 'repository'), '--dir', dir];
    const child = user.start(
      'env',
      ['KUBENODE_PROGRESS=all', process.execPath, ...args],
      ['ignore', 'pipe', 'pipe'],
    );
    const ended = once(child, 'exit');
    const output = await outputUntil(child, phase);
    child.kill('SIGKILL');
    await ended;
    return output;
  }

  function wipe(): void {
    user.run(process.execPath, [user.main, 'local', 'down', '--wipe', '--dir', dir]);
    expect(existsSync(dir)).toBe(false);
    // Where no process is left no port is in use: one that was only chosen may belong to another test by now.
    expect(processesWith(dir)).toEqual([]);
  }
});

/** All that it printed, up to that text or to its end. */
async function outputUntil(child: ChildProcess, text: string): Promise<string> {
  let output = '';
  return await new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(text)) resolve(output);
      });
    }
    child.once('close', () => resolve(output));
  });
}
