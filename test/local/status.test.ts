import { realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLayout } from '../../src/local/layout.ts';
import { ensureAccess } from '../../src/local/pki/access.ts';
import { writeState } from '../../src/local/state.ts';
import {
  type LocalProcessStatus,
  namedProcesses,
  readLocalFleetStatus,
  summarizeProcesses,
} from '../../src/local/status.ts';
import { tempFolder } from '../support/temp.ts';
import { NOW, STATE } from './builders.ts';

describe('readLocalFleetStatus', () => {
  it('reports expired certificates before stopped processes', async () => {
    const layout = createLayout(realpathSync(tempFolder('status')));
    await writeState(layout.stateFile, STATE);
    await ensureAccess(STATE, layout, NOW);
    const at = async (now: Date): Promise<unknown> =>
      (await readLocalFleetStatus(layout.root, now))?.clusters[0]?.because;
    expect(await at(NOW)).toBe('no process is running: start it with: kubenode local up');
    expect(await at(new Date('2031-01-02T00:00:00.000Z'))).toBe(
      'certificates expired: run kubenode local up to renew them',
    );
  });
});

describe('namedProcesses', () => {
  it('names etcd once, which all clusters need, and the others with their cluster', async () => {
    const layout = createLayout(realpathSync(tempFolder('status')));
    await writeState(layout.stateFile, STATE);
    const status = await readLocalFleetStatus(layout.root, NOW);
    const names = status ? namedProcesses(status).map(({ id }) => id) : [];
    expect(names.filter((name) => name === 'etcd')).toHaveLength(1);
    for (const { name } of STATE.clusters) expect(names).toContain(`kube-apiserver of ${name}`);
  });
});

describe('summarizeProcesses', () => {
  it.each<[string, string[], string, string]>([
    ['all are ready', ['Ready', 'Ready', 'Ready'], 'Ready', 'all processes are ready'],
    ['one is stopped', ['Ready', 'Stopped', 'Ready'], 'NotReady', 'p1 is not running (log: p1.log)'],
    ['one is not ready', ['NotReady', 'Ready', 'Ready'], 'NotReady', 'p0 is not ready (log: p0.log)'],
    [
      'one is not ready and one is stopped',
      ['NotReady', 'Ready', 'Stopped'],
      'NotReady',
      'p2 is not running (log: p2.log)',
    ],
    [
      'all are stopped',
      ['Stopped', 'Stopped', 'Stopped'],
      'Stopped',
      'no process is running: start it with: kubenode local up',
    ],
  ])('reports the state if %s', (_, states, worst, because) => {
    const all = states.map(
      (each, index) =>
        ({ program: `p${index}`, state: each, port: 1, log: `p${index}.log` }) as LocalProcessStatus,
    );
    expect(summarizeProcesses(all)).toEqual({ state: worst, because });
  });
});
