import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { instanceFolder } from '../../../src/providers/local/folders.ts';
import { type InstanceRecord, writeNewInstance } from '../../../src/providers/local/record.ts';
import { runSimulatedInstances } from '../../../src/providers/local/simulated.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { clock } from './stub-agents.ts';

const UIDS = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);

function record(machineUid: string, type: InstanceRecord['type'] = 'simulated'): InstanceRecord {
  const tags = { clusterUid: 'c', machineUid };
  return { version: 1, machine: `m-${machineUid.at(-1)}`, type, tags, createdAt: '2030-01-01T12:00:00Z' };
}

describe('runSimulatedInstances', () => {
  it('runs an agent for each simulated instance, from its creation to its end, and while its power is on', async () => {
    const machines = tempFolder('machines');
    const [first = '', second = '', sandbox = ''] = UIDS;
    await writeNewInstance(machines, record(first));
    await writeNewInstance(machines, record(sandbox, 'sandbox'));
    const running = new Set<string>();
    const journal: string[] = [];
    const stop = new AbortController();
    const run = async (machine: string, signal: AbortSignal): Promise<void> => {
      running.add(machine);
      journal.push(`${machine} begins`);
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      running.delete(machine);
      journal.push(`${machine} ends`);
    };
    const until = async (...names: readonly string[]): Promise<void> => {
      const reached = async (): Promise<true | undefined> =>
        [...running].toSorted().join() === names.join() || undefined;
      await eventually(reached, `${names.join()} do not run`, 20_000);
    };
    const ended = runSimulatedInstances({ machines, clock, run, everyMs: 20 }, stop.signal);
    await until('m-1');
    const folder = await writeNewInstance(machines, record(second));
    await until('m-1', 'm-2');
    writeFileSync(folder.offFile, '');
    await until('m-1');
    rmSync(folder.offFile);
    await until('m-1', 'm-2');
    rmSync(instanceFolder(machines, first).path, { recursive: true });
    await until('m-2');
    stop.abort();
    await ended;
    expect(journal).toEqual(['m-1 begins', 'm-2 begins', 'm-2 ends', 'm-2 begins', 'm-1 ends', 'm-2 ends']);
  });
});
