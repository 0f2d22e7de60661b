import { describe, expect, it } from 'vitest';
import { changesAt } from '../../../../../src/controllers/following/clusterapi/remediation/plan.ts';
import { ago, NOW } from '../../../../support/builders.ts';
import { remedyJob } from '../../../../support/remediers.ts';
import { finding, planOf, type RemediationCase, RULE, repairable, reportsOf, request } from './requests.ts';

const JOB = { machine: 'node-1', remedier: RULE, begun: 60 };
const HANDED_BACK = finding('HandedBack', 'True', 'LadderEnded', 'job j: handed to queue node-sre');
const LATE = 3600;

describe('the planner of requests of health checks', () => {
  it.each<[string, RemediationCase, readonly string[]]>([
    [
      'asks rules for a repair',
      {},
      ['node-1 True HealthCheckFailed: KubenodeRemediation fleet/md-1 asks rule capi-repair for a repair'],
    ],
    [
      'ends the request with its object',
      { requests: [request(1, { isDeleting: true })] },
      ['node-1 False NotRequested: Cluster API asks for no repair of this machine'],
    ],
    [
      'ends the request after the hand-back',
      { requests: [request(1, { status: { conditions: [HANDED_BACK] } })] },
      [
        'node-1 False HandedBack: the machine was handed back to Cluster API: job j: handed to queue node-sre',
      ],
    ],
    ['reports on no Machine of somebody else', { machines: [repairable(1, { manager: 'person' })] }, []],
    ['reports on no Machine that is being deleted', { machines: [repairable(1, { isDeleting: true })] }, []],
    [
      'writes nothing twice',
      {
        requests: [],
        machines: [
          repairable(1, {
            conditions: [
              finding(
                'RemediationRequested',
                'False',
                'NotRequested',
                'Cluster API asks for no repair of this machine',
              ),
            ],
          }),
        ],
      },
      [],
    ],
  ])('CAP-09 on our Machine it %s', (_, input, expected) => {
    expect(reportsOf(input)).toEqual(expected);
  });

  it('CAP-09 takes the Machine that stays, while one for an earlier Node is being deleted', () => {
    const [first, second] = [repairable(2), repairable(1)];
    const config = { namespace: 'fleet', name: 'md-1', providerID: 'inst://2' };
    const earlier = repairable(2, { config, isDeleting: true });
    for (const machines of [
      [earlier, second],
      [second, earlier],
    ]) {
      expect(planOf({ machines: [...machines] }).decisions[0]?.machine?.metadata.name).toBe('node-1');
    }
    expect(planOf({ machines: [first] }).decisions[0]?.machine).toBeUndefined();
  });

  it('CAP-09 names the last job since the request, and none of an earlier one', () => {
    const jobs = [
      remedyJob({ ...JOB, case: '00000001', begun: 500, outcome: 'Transient' }),
      remedyJob({ ...JOB, case: '00000002', begun: 100, outcome: 'Transient' }),
      remedyJob({ ...JOB, case: '00000002', begun: 50, index: 2, outcome: 'HandedOff' }),
    ];
    const [decision] = planOf({ jobs }).decisions;
    expect(decision?.job).toBe('node-1-capi-repair-00000002-r2-a1');
    expect(planOf({ jobs: jobs.slice(0, 1) }).decisions[0]?.job).toBeUndefined();
    const ofAnother = remedyJob({ ...JOB, remedier: 'kernel-hang', begun: 10 });
    expect(planOf({ jobs: [...jobs, ofAnother] }).decisions[0]?.job).toBe(decision?.job);
    const atWork = remedyJob({ ...JOB, case: '00000003', begun: 500 });
    expect(planOf({ jobs: [atWork] }).decisions[0]?.job).toBe(atWork.metadata.name);
  });

  it('CAP-10 asks for a requeue at the moment at which time alone decides', () => {
    expect(changesAt(planOf({}))).toEqual(new Date(+NOW + (LATE - 120) * 1000));
    const until = ago(-600);
    const held = repairable(1, { personHold: { reason: 'forensics', scope: 'All', until } });
    expect(changesAt(planOf({ machines: [held] }))).toEqual(new Date(until));
    expect(changesAt(planOf({ jobs: [remedyJob(JOB)] }))).toBeUndefined();
  });
});
