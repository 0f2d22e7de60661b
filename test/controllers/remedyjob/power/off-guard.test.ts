import { describe, expect, it } from 'vitest';
import type { JobStepStatus } from '../../../../src/api/generated/types.ts';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import { offForbidden } from '../../../../src/controllers/remedyjob/power/off-guard.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import {
  BOOT,
  jobMachine,
  jobNode,
  jobStep,
  later,
  NODE_UID,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

const plan = [jobStep('s1', 'PowerCycle')];
const power = { way: 'BMC', desired: 'Off', intendedAt: later(0) } as const;
const [record] = records('s1 Running', { power, bootIDBefore: BOOT }) as [JobStepStatus];
const job = repairJob({ spec: { plan }, status: { steps: [record] } });
const ofInstance = repairJob({
  spec: { plan, node: { uid: NODE_UID, bootID: BOOT, providerID: 'aws://i-1' } },
  status: { steps: [record] },
});
const silent: KubeObject = { ...jobNode(), status: { conditions: [], nodeInfo: { bootID: BOOT } } };

describe('offForbidden', () => {
  it.each<
    [name: string, present: Partial<JobInput>, node: KubeObject | undefined, expected: string | undefined]
  >([
    ['permits it while nothing has changed', {}, jobNode(), undefined],
    ['of another Node', {}, jobNode({ uid: 'node-2' }), `the Node with UID ${NODE_UID} was deleted`],
    ['without its Node', {}, undefined, `the Node with UID ${NODE_UID} was deleted`],
    ['of a Node that has booted', {}, jobNode({ bootID: 'boot-2' }), 'the node has booted: boot-2'],
    ['of a Node that became Ready', { node: silent }, jobNode(), 'the Node was Unknown, and is Ready'],
    [
      'of another instance',
      { job: ofInstance },
      jobNode({ spec: { providerID: 'aws://i-2' } }),
      'the Node is of another instance: aws://i-2',
    ],
    [
      'permits it for the same instance',
      { job: ofInstance },
      jobNode({ spec: { providerID: 'aws://i-1' } }),
      undefined,
    ],
    [
      'when the fault has cleared',
      { rule: 'NoMatch' },
      jobNode(),
      'NodeRemedier kernel-hang no longer matches',
    ],
    ['permits it although the facts are silent', { rule: 'Indeterminate' }, jobNode(), undefined],
    [
      'when the Machine was deleted',
      { machine: undefined },
      jobNode(),
      'Machine m with UID uid-m was deleted',
    ],
    [
      'when a person holds it',
      {
        machine: { ...jobMachine(), spec: { ...jobMachine().spec, hold: { reason: 'mine', scope: 'All' } } },
      },
      jobNode(),
      'the machine is held: mine',
    ],
  ])('R33 forbids to switch a machine off: %s', (_, present, node, expected) => {
    expect(offForbidden({ present: observation({ job, ...present }), node, record })).toBe(expected);
  });
});
