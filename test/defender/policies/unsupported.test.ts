import { describe, expect, it } from 'vitest';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { acceptanceProblems, unsupportedPolicyFields } from '../../../src/defender/policies/unsupported.ts';
import { policy } from '../builders.ts';

const NOT_YET = 'not supported in this version: remove it';

const CAUSE = { type: 'CommonCause', per: 'Cluster', dimensions: ['zone'] };
const ONLY_CLUSTER = 'only Cluster is supported in this version for CommonCause';

describe('fields that this version does not act on', () => {
  it.each([
    ['selfDoubt.secondVantage', { selfDoubt: { secondVantage: ['PeerAgents'] } }, NOT_YET],
    ['blockers.promql', { blockers: { promql: [{ name: 'a', query: 'up' }] } }, NOT_YET],
    [
      'blockers.foreign[1].lease',
      { blockers: { foreign: [{ taint: 't' }, { lease: 'a/b' }] } },
      `${NOT_YET}, or name a taint or label`,
    ],
    [
      'blockers.podLabels[0]',
      { blockers: { podLabels: ['gang', 'kubenode.dev/block=true'] } },
      'only kubenode.dev/block=true is supported in this version',
    ],
    ['capacity.simulateScheduling', { capacity: { simulateScheduling: true } }, NOT_YET],
    ['capacity.replacementFirst', { capacity: { replacementFirst: true } }, NOT_YET],
    ['capacity.minFreePercent', { capacity: { minFreePercent: { cpu: 10 } } }, NOT_YET],
    ['drain.maxBudgetWaitSeconds', { drain: { maxBudgetWaitSeconds: 60 } }, NOT_YET],
    // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
    ['drain.then', { drain: { then: 'Abort' } }, NOT_YET],
    ['ruleWaves.waves', { ruleWaves: { waves: [1] } }, NOT_YET],
    ['ruleWaves.soakSeconds', { ruleWaves: { soakSeconds: 1 } }, NOT_YET],
    ['ruleWaves.minSuccessPercent', { ruleWaves: { minSuccessPercent: 1 } }, NOT_YET],
    ['breakers[0].per', { breakers: [{ ...CAUSE, per: 'Zone' }] }, ONLY_CLUSTER],
    ['breakers[0].dimensions', { breakers: [{ ...CAUSE, dimensions: [] }] }, 'name at least one'],
    [
      'breakers[0].dimensions[1]',
      { breakers: [{ ...CAUSE, dimensions: ['rack', 'detectorVersion'] }] },
      'not observed in this version: use zone, rack, pool, kernelVersion, osImage, kubeletVersion, containerRuntimeVersion, driverVersion, componentVersion',
    ],
    ['breakers[0].type', { breakers: [{ type: 'IndeterminateRatio' }] }, `IndeterminateRatio is ${NOT_YET}`],
  ])('names %s', (path, spec, message) => {
    expect(unsupportedPolicyFields({ spec })).toEqual([{ path: `spec.${path}`, message }]);
  });

  it('accepts defaults, whether they are written or not', () => {
    expect(unsupportedPolicyFields({ spec: {} })).toEqual([]);
    const spec = {
      selfDoubt: { secondVantage: [] },
      blockers: { promql: [], foreign: [{ taint: 'x' }], podLabels: ['kubenode.dev/block=true'] },
      capacity: { simulateScheduling: false, replacementFirst: false, minFreePercent: {} },
      // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
      drain: { maxBudgetWaitSeconds: 1800, then: 'RequestApproval' },
      ruleWaves: { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 },
      breakers: [{ type: 'UnhealthyRatio', probes: 3 }, CAUSE],
    };
    expect(unsupportedPolicyFields({ spec })).toEqual([]);
    expect(unsupportedPolicyFields({ spec: 'not an object' })).toEqual([]);
  });

  it('R13 denies every ask while a policy in mode Enforce has such a field', () => {
    const blockers = { foreign: [], podLabels: ['gang'], minNodeAgeSeconds: 900, promql: [] };
    const wrong = policy({ blockers });
    expect(preparePolicies([wrong], acceptanceProblems).problems).toEqual(
      new Map([
        [
          'fleet-default',
          ['spec.blockers.podLabels[0]: only kubenode.dev/block=true is supported in this version'],
        ],
      ]),
    );
    expect(preparePolicies([policy()], acceptanceProblems).valid).toHaveLength(1);
  });
});
