/** The fleet of the picture of the documentation: a rollout, a repair, a drain and a wait, at one moment. */
import {
  type ConsoleState,
  type MachineTile,
  NO_STATE,
  type RowsByKey,
} from '../../../src/console/state/state.ts';
import { clusterLine } from '../../console/fixtures.ts';
import { PICTURE_COMMIT, PICTURE_COMMITS, PICTURE_LIMITS } from './picture-parts.ts';

/** When the picture is taken. */
export const PICTURE_TIME = '2026-03-02T10:00:00Z';

const SILENT: MachineTile = {
  p: 'NotReady',
  why: {
    reason: 'AgentSilent',
    because: 'no heartbeat for 90 s',
    unblock: 'kubenode machine show prod-a-05',
  },
};

/** What is not Ready, by name. */
const CHANGED: Readonly<Record<string, MachineTile>> = {
  'prod-a-03': { p: 'Updating', c: { g: 'g-41-0' } },
  'prod-a-05': SILENT,
  'prod-b-02': { p: 'Updating' },
  'prod-b-07': { p: 'Held' },
  'prod-b-08': { p: 'NotReady' },
};

export const PICTURE_STATE: ConsoleState = {
  ...NO_STATE,
  history: lastHour(),
  pipelines: {
    fleet: {
      name: 'fleet',
      phase: 'Promoting',
      commit: PICTURE_COMMIT,
      verdict: 'Accepted',
      because: 'stage prod is in work',
      since: '2026-03-02T09:12:00Z',
    },
  },
  clusters: {
    test: clusterLine('test', {
      pipeline: 'fleet',
      stage: 'test',
      commit: PICTURE_COMMIT,
      since: '2026-03-02T09:14:00Z',
    }),
    prod: clusterLine('prod', {
      pipeline: 'fleet',
      order: 1,
      commit: PICTURE_COMMIT,
      state: 'Applying',
      because: 'waits for rollout general-nodes',
      since: '2026-03-02T09:46:00Z',
    }),
  },
  machines: { ...machinesOf('test', 'a', 3), ...machinesOf('prod', 'a', 10), ...machinesOf('prod', 'b', 10) },
  rollouts: {
    'prod/general-nodes': {
      cluster: 'prod',
      set: 'general-nodes',
      phase: 'Rolling',
      state: 'Running',
      because: 'machines are in work',
      changes: ['kubelet-1.35.4 to kubelet-1.36.0'],
      batch: { place: '2 of 4', size: 5, updated: 3, failed: 0 },
      selected: 20,
      updated: 4,
      failed: 0,
      since: '2026-03-02T09:47:00Z',
      unblock: '',
      inWork: [
        { machine: 'prod-a-03', state: 'Draining', because: 'evicted 7 of 9 pods' },
        { machine: 'prod-b-02', state: 'Activating', because: 'kubelet starts' },
      ],
    },
  },
  repairs: {
    'prod/kubelet-hung-prod-b-08': {
      cluster: 'prod',
      job: 'kubelet-hung-prod-b-08',
      machine: 'prod-b-08',
      rule: 'kubelet-hung',
      rung: 'restart',
      attempt: 1,
      phase: 'Verifying',
      state: 'Running',
      created: '2026-03-02T09:58:10Z',
      evidence: [],
      timeline: [
        { what: 'fault', at: '2026-03-02T09:55:00Z', because: 'NodeReady is Unknown' },
        { what: 'detected', at: '2026-03-02T09:58:00Z', because: 'rule kubelet-hung' },
        { what: 'granted', at: '2026-03-02T09:58:10Z', because: 'for rung restart' },
        { what: 'acted', at: '2026-03-02T09:58:40Z', because: '1 of 1 step succeeded' },
        { what: 'verified', because: '' },
        { what: 'settled', because: '' },
      ],
      steps: [{ step: 'RestartService@v1', state: 'Succeeded', because: 'kubelet runs' }],
    },
  },
  ...PICTURE_LIMITS,
  commits: PICTURE_COMMITS,
  grants: {
    'prod/prod-a-03': {
      cluster: 'prod',
      machine: 'prod-a-03',
      id: 'g-41-0',
      action: 'Rollout',
      state: 'Granted',
      holder: 'MachineComponentSet general-nodes',
      since: '2026-03-02T09:56:00Z',
    },
  },
};

function machinesOf(cluster: string, zone: string, count: number): RowsByKey<MachineTile> {
  const names = Array.from(
    { length: count },
    (_, index) => `${cluster}-${zone}-${String(index + 1).padStart(2, '0')}`,
  );
  return Object.fromEntries(
    names.map((name) => [`${cluster}/${name}`, { z: zone, ...(CHANGED[name] ?? { p: 'Ready' }) }]),
  );
}

/** Of 20 machines, since the rollout of the picture began. */
function updatedAt(index: number): number {
  return index <= 40 ? 20 : Math.min(4, Math.floor((index - 40) / 40));
}

/** A rollout over the stages, and a node that fell ill. */
function lastHour(): ConsoleState['history'] {
  const endS = Date.parse(PICTURE_TIME) / 1000;
  const points = Array.from({ length: 241 }, (_, index) => {
    const isRolling = index > 40 && (index + 60) % 80 > 30;
    const isIll = index > 200;
    const changing = isRolling ? 1 + (Math.floor(index / 10) % 3) : 0;
    const point = {
      ready: 20 - changing - (isIll ? 2 : 0),
      changing,
      trouble: isIll ? 2 : 0,
      repairs: isIll ? 1 : 0,
      grants: changing + (isIll ? 1 : 0),
      updated: updatedAt(index),
    };
    return [endS - 15 * (240 - index), point] as const;
  });
  return Object.fromEntries(points);
}
