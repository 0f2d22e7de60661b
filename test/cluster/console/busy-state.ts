/** The fleet of the picture with everything that a page can show: waits, an incident, limits over clusters, and commits. */
import type { ConsoleState } from '../../../src/console/state/state.ts';
import type { CommitView } from '../../../src/views/release/commit-view.ts';
import { FLEET_STOP, fleetPolicyCard } from '../../console/fixtures.ts';
import { PICTURE_STATE } from './picture-state.ts';

const INCIDENT = 'prod: a breaker of DefenderPolicy fleet-default is open: 5 of 9. kubenode defender status';
const APPROVAL = 'prod: WipeDisk of m-1 waits for a person: kubenode defender approve m-1';
const CLOSED = 'Pipeline fleet: stage prod is closed from 2026-03-02T18:00:00Z';

const RELEASE: CommitView = {
  name: 'fleet-5f2c9a41d0b7',
  pipeline: 'fleet',
  commit: '5f2c9a41d0b7',
  phase: 'Waiting',
  subject: 'kubelet 1.36.0',
  author: 'kim',
  created: '2026-03-02T09:12:00Z',
  link: 'https://git.example.com/team/fleet/commit/5f2c9a41d0b7',
  stages: [
    {
      name: 'test',
      state: 'Soaking',
      since: '2026-03-02T09:14:00Z',
      soakUntil: '2026-03-02T10:14:00Z',
      proven: 1,
      total: 1,
      plan: '1 of 1 clusters change; objects: 0 created, 2 updated, 0 deleted',
      because: '',
    },
    {
      name: 'prod',
      state: 'Waiting',
      since: '2026-03-02T09:20:00Z',
      proven: 0,
      total: 2,
      plan: '1 of 2 clusters change; objects: 3 created, 4 updated, 0 deleted',
      because: 'prod needs an approval',
    },
  ],
};

export const BUSY_STATE: ConsoleState = {
  ...PICTURE_STATE,
  machines: Object.fromEntries(
    Object.entries(PICTURE_STATE.machines).map(([key, tile]) => [key, { ...tile, l: 'general' }]),
  ),
  commits: { [RELEASE.name]: RELEASE },
  rollouts: { ...PICTURE_STATE.rollouts, ...waitingRollout() },
  repairs: { ...PICTURE_STATE.repairs, ...waitingRepair() },
  fleetPolicies: {
    fleet: fleetPolicyCard('fleet'),
    stop: fleetPolicyCard('stop', {
      phase: 'Stopped',
      limits: [],
      stop: { ...FLEET_STOP, since: '2026-03-02T09:50:00Z' },
    }),
  },
  notes: {
    [INCIDENT]: { text: INCIDENT, bad: true, isIncident: true },
    [APPROVAL]: { text: APPROVAL, bad: true },
    [CLOSED]: { text: CLOSED, bad: false },
  },
};

function waitingRollout(): ConsoleState['rollouts'] {
  const card = PICTURE_STATE.rollouts['prod/general-nodes'];
  if (!card) return {};
  const revisions = [
    { components: 'kubelet-1.36.0', result: 'in work', revision: 'r-2' },
    { components: 'kubelet-1.35.4', result: 'Completed', ended: '2026-03-01T09:00:00Z', revision: 'r-1' },
  ];
  const waiting = {
    revisions,
    set: 'gpu-nodes',
    state: 'NeedsPerson',
    because: 'batch 2 waits for approval',
  };
  return { 'prod/gpu-nodes': { ...card, ...waiting, unblock: 'kubenode rollout approve gpu-nodes' } };
}

function waitingRepair(): ConsoleState['repairs'] {
  const card = PICTURE_STATE.repairs['prod/kubelet-hung-prod-b-08'];
  if (!card) return {};
  const why = {
    reason: 'ApprovalRequired',
    because: 'rung restart needs one',
    unblock: 'kubenode repair approve',
  };
  return { 'prod/disk-full': { ...card, job: 'disk-full', machine: 'prod-a-05', state: 'NeedsPerson', why } };
}
