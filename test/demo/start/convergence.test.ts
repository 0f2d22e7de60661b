import { expect, it } from 'vitest';
import { createConvergence, type ReadyMachines, readyMachines } from '../../../src/demo/start/convergence.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { ClusterRow, HubStatus } from '../../../src/views/status/hub-status.ts';
import { condition, machine } from '../../support/builders.ts';

const HEAD = 'aaaaaaaaaaaa';

function statusOf(states: readonly string[], fields: Partial<HubStatus> = {}): HubStatus {
  const pipeline = { name: 'fleet', phase: 'UpToDate', head: HEAD, verdict: 'Accepted', because: '' };
  const clusters = states.map((text, index): ClusterRow => {
    const [state = '', commit = HEAD] = text.split(' ');
    return {
      name: `c-${index}`,
      stage: 's',
      commit,
      state,
      synced: 'True',
      health: 'Healthy' as const,
      incidents: [],
      because: '',
    };
  });
  return { unsynced: [], pipelines: [pipeline], clusters, incidents: [], notes: [], trouble: [], ...fields };
}

const PROVEN = statusOf(['Proven', 'Proven']);

function bed(): {
  readonly at: (seconds: number) => void;
  readonly machines: (count: ReadyMachines | undefined) => void;
  readonly convergence: ReturnType<typeof createConvergence>;
} {
  let nowMs = 0;
  let count: ReadyMachines | undefined = { ready: 3, total: 3 };
  const convergence = createConvergence({
    nowMs: () => nowMs,
    countMachines: async () => {
      if (!count) throw new Error('no answer');
      return count;
    },
  });
  return {
    at: (seconds) => void (nowMs = seconds * 1000),
    machines: (next) => void (count = next),
    convergence,
  };
}

it('tells how long it took, and the same text for as long as nothing changes', async () => {
  const { at, convergence } = bed();
  at(54);
  const text = '  converged: 3 machines Ready at aaaaaaaaaaaa in 54 s';
  expect(await convergence.lineOf(PROVEN)).toBe(text);
  at(90);
  expect(await convergence.lineOf(PROVEN)).toBe(text);
});

it('measures the next commit from when it was read', async () => {
  const { at, convergence } = bed();
  await convergence.lineOf(PROVEN);
  at(100);
  expect(await convergence.lineOf(statusOf(['Proven', 'Applying']))).toBeUndefined();
  at(110);
  expect(await convergence.lineOf(statusOf(['Proven', 'Soaking']))).toBeUndefined();
  at(160);
  expect(await convergence.lineOf(PROVEN)).toBe('  converged: 3 machines Ready at aaaaaaaaaaaa in 60 s');
});

it.each<[name: string, status: HubStatus, count: ReadyMachines | undefined]>([
  ['a cluster soaks', statusOf(['Proven', 'Soaking']), { ready: 3, total: 3 }],
  ['a cluster runs another commit', statusOf(['Proven', 'Proven bbbbbbbbbbbb']), { ready: 3, total: 3 }],
  [
    'the pipeline promotes',
    { ...PROVEN, pipelines: PROVEN.pipelines.map((row) => ({ ...row, phase: 'Promoting' })) },
    { ready: 3, total: 3 },
  ],
  ['no cluster is declared yet', statusOf([]), { ready: 3, total: 3 }],
  ['nothing syncs', { ...PROVEN, unsynced: ['nothing syncs pipeline fleet'] }, { ready: 3, total: 3 }],
  ['a machine is not Ready', PROVEN, { ready: 2, total: 3 }],
  ['no machine exists yet', PROVEN, { ready: 0, total: 0 }],
  ['a cluster does not answer', PROVEN, undefined],
])('tells nothing while %s', async (_, status, count) => {
  const { machines, convergence } = bed();
  machines(count);
  expect(await convergence.lineOf(status)).toBeUndefined();
});

function lease(name: string, renewTime: string): KubeObject {
  const spec = { renewTime };
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
  return object;
}

it('counts a machine whose agent was heard since the start, and not what it had reported before', () => {
  const since = new Date('2030-01-01T00:00:00Z');
  const ready = { status: { conditions: [condition('Ready', 'True')] } };
  const machines = [
    machine('a', ready),
    machine('b', ready),
    machine('c', ready),
    machine('d', { status: { conditions: [] } }),
  ];
  const leases = [
    lease('a', '2030-01-01T00:00:00.000000Z'),
    lease('b', '2029-12-31T23:59:59.999000Z'),
    lease('d', '2030-01-01T00:00:09.000000Z'),
  ];
  expect(readyMachines(machines, leases, since)).toEqual({ ready: 1, total: 4 });
});
