import { describe, expect, it } from 'vitest';
import type { JobStepPower } from '../../../../src/api/generated/types.ts';
import { planTaint } from '../../../../src/controllers/remedyjob/plan/owned-taints.ts';
import {
  OUT_OF_SERVICE_TAINT,
  planBackInService,
  planOutOfService,
  powerOffOf,
  returnedGrant,
} from '../../../../src/controllers/remedyjob/power/out-of-service.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { patchJson } from '../../../../src/sim/api-server/json-patch.ts';
import { condition } from '../../../support/builders.ts';
import {
  BOOT,
  GRANT,
  jobMachine,
  jobNode,
  jobStep,
  later,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

const at = later(0);
const silentNode: KubeObject = { ...jobNode(), status: { conditions: [], nodeInfo: { bootID: BOOT } } };
const silent = observation({
  node: silentNode,
  machine: jobMachine({ conditions: [condition('AgentReady', 'Unknown')] }),
});

describe('planOutOfService', () => {
  it.each([
    ['sets it on what reads Off', silent, 'Off', 'Set'],
    ['never on what reads On', silent, 'On', 'Runs'],
    ['not while the switch is unsure', silent, 'Unknown', 'Wait'],
    ['not on a host whose kubelet is Ready', { ...silent, node: jobNode() }, 'Off', 'Alive'],
    [
      'not on a host whose agent answers',
      { ...silent, machine: jobMachine({ conditions: [condition('AgentReady', 'True')] }) },
      'Off',
      'Alive',
    ],
  ] as const)('R35 releases pods and volumes: %s', (_, input, state, expected) => {
    expect(planOutOfService(input, state).type).toBe(expected);
  });
});

describe('powerOffOf', () => {
  it.each<[name: string, power: JobStepPower | undefined, expected: boolean]>([
    ['read Off', { way: 'BMC', desired: 'Off', intendedAt: at, offAt: at }, true],
    ['read Off, which it was before', { way: 'BMC', desired: 'Off', offAt: at }, true],
    ['only accepted', { way: 'BMC', desired: 'Off', intendedAt: at, acceptedAt: at }, false],
    ['about to be switched on', { way: 'BMC', desired: 'On', intendedAt: at, offAt: at }, false],
    ['never switched', undefined, false],
  ])('R35 finds what the job has read Off: %s', (_, power, expected) => {
    const steps = power ? records('s1 Succeeded', { power }) : [];
    const job = repairJob({ spec: { plan: [jobStep('s1', 'PowerOff')] }, status: { steps } });
    expect(powerOffOf(job) !== undefined).toBe(expected);
  });
});

describe('the taint of a job', () => {
  const out = patchJson(silentNode, planTaint(silentNode, OUT_OF_SERVICE_TAINT, GRANT.id)) as KubeObject;
  const booted: KubeObject = { ...out, status: { conditions: [], nodeInfo: { bootID: 'boot-2' } } };
  const ready: KubeObject = { ...out, status: jobNode()['status'] };
  const unknown: KubeObject = { ...out, status: { conditions: [] } };

  it('is removed with its record', () => {
    const node = patchJson(out, planBackInService(out, GRANT.id)) as KubeObject;
    expect([node['spec'], node.metadata.annotations]).toEqual([
      { taints: [] },
      { 'kubenode.dev/owned': '{}' },
    ]);
    expect(planBackInService(silentNode, GRANT.id)).toEqual([]);
  });

  it.each([
    ['the boot is the same', out, undefined],
    ['the Node has booted', booted, GRANT.id],
    ['the same boot is Ready again: what was read Off was another host', ready, GRANT.id],
    ['the Node reports no boot', unknown, undefined],
    ['it is not there', silentNode, undefined],
  ])('R35 is of a machine that returned: %s', (_, node, expected) => {
    expect(returnedGrant(node, [GRANT.id], () => repairJob())).toBe(expected);
  });
});
