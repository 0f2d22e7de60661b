import { describe, expect, it } from 'vitest';
import { planHosting } from '../../../../src/controllers/hosting/plan/plan.ts';
import {
  decisionText,
  hostingInput,
  type InputParts,
  LOCATION,
  NOTHING,
} from '../../../support/hosting/objects.ts';

const DELETED = { deletionTimestamp: '2030-01-01T00:00:00Z' };
const READY = { readyAt: '2030-01-01T00:00:00Z' };
const UNSUPPORTED = { exposure: { type: 'NodePort', port: 6443 } } as const;

function at(location: string, hosted: object = {}): InputParts {
  return { status: { conditions: [], hosted: { location, ...hosted } } };
}

describe('the plan of a hosted control plane', () => {
  it.each<readonly [string, InputParts, string]>([
    ['is complete', {}, 'nothing'],
    ['has no finalizer', { metadata: { finalizers: [] } }, 'AddFinalizer: nothing may be left behind'],
    ['is new', { plane: NOTHING }, 'RecordLocation: another hosting must not create it as well'],
    ['is recorded', { plane: NOTHING, ...at(LOCATION) }, 'Prepare: keys, ports or folders are missing'],
    ['was ready and is missing', { plane: NOTHING, ...at(LOCATION, READY) }, 'stalled ControlPlaneMissing'],
    ['is recorded elsewhere', { plane: NOTHING, ...at('there:/ci') }, 'stalled HostedElsewhere'],
    [
      'is recorded elsewhere and deleted',
      { plane: NOTHING, metadata: DELETED, input: { secret: 'Differs' }, ...at('there:/ci', READY) },
      'stalled HostedElsewhere',
    ],
    [
      'is recorded elsewhere and deleted by force',
      { plane: NOTHING, metadata: DELETED, deletion: { force: true }, ...at('there:/ci', READY) },
      'DeleteSecret: its Cluster is being deleted',
    ],
    ['was moved here', at('there:/ci', READY), 'nothing'],
    ['is paused', { plane: NOTHING, spec: { paused: true } }, 'wait Paused'],
    ['is paused and deleted', { metadata: DELETED, spec: { paused: true } }, 'wait Paused'],
    ['is deleted', { metadata: DELETED }, 'DeleteSecret: its Cluster is being deleted'],
    ['is deleted and released', { metadata: { ...DELETED, finalizers: [] } }, 'nothing'],
    ['wants what is not supported', { plane: NOTHING, hosted: UNSUPPORTED }, 'stalled NotSupported'],
    ['wants it later', { hosted: UNSUPPORTED }, 'stalled NotSupported'],
    [
      'wants it later and has no Secret',
      { hosted: UNSUPPORTED, input: { secret: 'Absent' } },
      'WriteSecret: sync has no kubeconfig',
    ],
    [
      'wants what is not supported, and is a throw-away one that is too old',
      {
        plane: NOTHING,
        hosted: { ...UNSUPPORTED, ttlSecondsAfterReady: 60 },
        metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
      },
      'DeleteCluster: it was created 691200 s ago: this hosting keeps no throw-away cluster longer (--max-age)',
    ],
    [
      'wants of its driver what that does not do',
      {
        plane: NOTHING,
        hosted: { driver: 'process', exposure: { type: 'LoadBalancer', port: 6443 } },
      },
      'stalled NotSupported',
    ],
  ])('of a Cluster that %s', (_, parts, expected) => {
    expect(decisionText(planHosting(hostingInput(parts)))).toBe(expected);
  });
});
