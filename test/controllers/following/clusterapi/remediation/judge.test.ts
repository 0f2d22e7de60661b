import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { remedier, remedyJob } from '../../../../support/remediers.ts';
import { theirNode } from '../objects.ts';
import { decisionsOf, finding, planOf, type RemediationCase, RULE, repairable, request } from './requests.ts';

const JOB = { machine: 'node-1', remedier: RULE, begun: 60 };
const PERSON = finding('NeedsPerson', 'True', 'HandedOff', 'job j: handed to queue node-sre');
const HANDED_BACK = finding('HandedBack', 'True', 'LadderEnded', 'job j: handed to queue node-sre');
const LATE = 3600;
/** For a minute. */
const UNFOLLOWED = request(1, {
  status: { conditions: [{ ...finding('Repairing', 'True', 'NotFollowed', 'none'), status: 'Unknown' }] },
});

describe('the judgment of a request of a health check', () => {
  it.each<[string, RemediationCase, string]>([
    [
      'waits for the rule',
      {},
      'Waiting RuleNotMatched: rule capi-repair begins no repair: its conditions are not true',
    ],
    [
      'tells why the rule waits',
      { machines: [repairable(1, { wait: ['Denied', 'BudgetUsed: 3 of 3'] })] },
      'Waiting Denied: rule capi-repair: BudgetUsed: 3 of 3',
    ],
    [
      'tells that the rule is missing',
      { rules: [] },
      'Waiting RuleNotFound: NodeRemedier capi-repair was not found',
    ],
    [
      'tells that the rule is suspended',
      { rules: [remedier({ '/mode': 'Suspended' }, { name: RULE })] },
      'Waiting RuleSuspended: rule capi-repair is suspended',
    ],
    [
      'leaves a job at work alone',
      { jobs: [remedyJob(JOB)] },
      'Repairing JobActive: job node-1-capi-repair-0a1b2c3d-r1-a1 is at work',
    ],
    [
      'leaves a job of another rule alone, also when the time is over',
      { requests: [request(1, { created: LATE })], jobs: [remedyJob({ ...JOB, remedier: 'kernel-hang' })] },
      'Repairing JobActive: job node-1-kernel-hang-0a1b2c3d-r1-a1 of rule kernel-hang is at work',
    ],
    [
      'hands back when the ladder ended at a person',
      {
        machines: [repairable(1, { conditions: [PERSON] })],
        jobs: [remedyJob({ ...JOB, outcome: 'HandedOff' })],
      },
      'HandBack LadderEnded: job j: handed to queue node-sre',
    ],
    [
      'hands back when every rung was tried',
      { machines: [repairable(1, { wait: ['HandedOff', 'every rung of the ladder was tried'] })] },
      'HandBack LadderEnded: rule capi-repair: every rung of the ladder was tried',
    ],
    [
      'hands back when nothing permits a repair in time',
      {
        requests: [request(1, { created: LATE })],
        machines: [repairable(1, { wait: ['Denied', 'BudgetUsed: 3 of 3'] })],
      },
      'HandBack TimedOut: not repaired within 3600 s: rule capi-repair: BudgetUsed: 3 of 3',
    ],
    [
      'keeps what a person holds, also when the ladder ended and the time is over',
      {
        requests: [request(1, { created: LATE })],
        machines: [
          repairable(1, { conditions: [PERSON], personHold: { reason: 'forensics', scope: 'Disruptive' } }),
        ],
      },
      'Held HumanHold: the machine is held: forensics',
    ],
    [
      'keeps what a person holds by its Node',
      { nodes: [theirNode(1, { 'kubenode.dev/hold': 'the disk is being changed' })] },
      'Held HumanHold: the machine is held: the disk is being changed',
    ],
    [
      'keeps what Cluster API has paused',
      {
        requests: [request(1, { created: LATE })],
        machines: [repairable(1, { hold: 'ClusterPaused: Cluster fleet/c of Cluster API is paused' })],
      },
      'Held OwnerHold: ClusterPaused: Cluster fleet/c of Cluster API is paused',
    ],
    [
      'keeps what must not be remediated',
      { machines: [repairable(1, { hold: 'RemediationSkipped: annotation' })] },
      'Held OwnerHold: RemediationSkipped: annotation',
    ],
    [
      'hands back a machine without a Node, which nothing can repair',
      {
        requests: [request(1, { created: LATE })],
        machines: [repairable(1, { hold: 'NodeNotFound: deleted' })],
      },
      'HandBack TimedOut: not repaired within 3600 s: rule capi-repair begins no repair: its conditions are not true',
    ],
    [
      'waits a minute for a Machine of kubenode, also when a person has just deleted it',
      { requests: [request(1, { created: LATE })], machines: [repairable(2)] },
      'Waiting NotFollowed: no Machine of kubenode follows md-1',
    ],
    [
      'waits a minute from the moment at which none is found, whatever was reported before',
      {
        requests: [
          request(1, { status: { conditions: [finding('Repairing', 'False', 'RuleNotMatched', 'none')] } }),
        ],
        machines: [repairable(2)],
      },
      'Waiting NotFollowed: no Machine of kubenode follows md-1',
    ],
    [
      'tries the ladder of a machine that a person has repaired',
      { machines: [repairable(1, { conditions: [{ ...PERSON, status: 'False' }] })] },
      'Waiting RuleNotMatched: rule capi-repair begins no repair: its conditions are not true',
    ],
    [
      'hands back nothing while repairs are stopped, whatever is due',
      {
        machines: [repairable(1, { conditions: [PERSON] })],
        stopped: 'repairs are stopped by anna: incident',
      },
      'Held KillSwitch: to be handed back (job j: handed to queue node-sre), but repairs are stopped by anna: incident',
    ],
    [
      'hands back nothing that is not followed while repairs are stopped',
      { requests: [UNFOLLOWED], machines: [], stopped: 'the fleet is stopped by ben: drill' },
      'Held KillSwitch: to be handed back (no Machine of kubenode follows md-1), but the fleet is stopped by ben: drill',
    ],
    [
      'tells about a job at work also while repairs are stopped',
      { jobs: [remedyJob(JOB)], stopped: 'repairs are stopped by anna: incident' },
      'Repairing JobActive: job node-1-capi-repair-0a1b2c3d-r1-a1 is at work',
    ],
    [
      'waits a minute after a start',
      { requests: [UNFOLLOWED], machines: [repairable(2)], started: 59 },
      'Waiting NotFollowed: no Machine of kubenode follows md-1',
    ],
    [
      'hands back what kubenode does not follow',
      { requests: [UNFOLLOWED], machines: [repairable(2)] },
      'HandBack NotFollowed: no Machine of kubenode follows md-1',
    ],
    [
      'does not take a Machine that somebody else wrote for the one that follows',
      { requests: [UNFOLLOWED], machines: [repairable(1, { manager: 'person' })] },
      'HandBack NotFollowed: no Machine of kubenode follows md-1',
    ],
    [
      'does nothing for an object that no health check created',
      { requests: [request(1, { owner: false, created: LATE })] },
      'Waiting NoOwner: the object has no owner reference to a Machine of Cluster API: only a MachineHealthCheck may create it',
    ],
    [
      'begins nothing after the hand-back',
      { requests: [request(1, { status: { conditions: [HANDED_BACK] } })] },
      'HandedBack LadderEnded: job j: handed to queue node-sre',
    ],
  ])('CAP-09 for an unhealthy machine it %s', (_, input, expected) => {
    expect(decisionsOf(input)).toEqual([`md-1 ${expected}`]);
  });

  it('CAP-10 hands back nothing that is held or at work, whatever else is true', () => {
    const anyParts = fc.record(
      {
        conditions: fc.constantFrom([], [PERSON]),
        hold: fc.constantFrom('ClusterPaused: p', 'RemediationSkipped: s', 'NotObserved: n'),
        personHold: fc.constant({ reason: 'r', scope: 'All' as const }),
      },
      { requiredKeys: ['conditions'] },
    );
    const anyJobs = fc.constantFrom([], [remedyJob(JOB)]);
    fc.assert(
      fc.property(anyParts, anyJobs, fc.integer({ min: 0, max: 10_000 }), (parts, jobs, created) => {
        const input = { requests: [request(1, { created })], machines: [repairable(1, parts)], jobs };
        const [decision] = planOf(input).decisions;
        const isKept = 'hold' in parts || 'personHold' in parts || jobs.length > 0;
        const isDue = parts.conditions.length > 0 || created >= LATE;
        expect(decision?.step === 'HandBack').toBe(isDue && !isKept);
      }),
    );
  });
});
