/** The steps that switch the power of a machine, over switches that behave: late, lossy, deaf, lying; and a host that comes back at the worst time. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { JobStep, JobStepPower, Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned, taintKeys } from '../../../src/api/machine/node-state.ts';
import { planTaint } from '../../../src/controllers/remedyjob/plan/owned-taints.ts';
import { OUT_OF_SERVICE_TAINT } from '../../../src/controllers/remedyjob/power/out-of-service.ts';
import { lastPower } from '../../../src/controllers/remedyjob/power/power-records.ts';
import { PODS, VOLUME_ATTACHMENTS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { ProviderError } from '../../../src/providers/contract.ts';
import type { PowerState } from '../../../src/providers/power.ts';
import { patchJson } from '../../../src/sim/api-server/json-patch.ts';
import { stride } from '../../support/sweep-size.ts';
import { createJobBed, type JobBed } from './job-bed.ts';
import { GRANT, HEALTHY, jobStep } from './jobs.ts';

const VERIFY = { holdSeconds: 2, timeoutSeconds: 8, target: 'Node', conditions: HEALTHY } as never;
const VIA = { via: ['BMC', 'Provider'] };

const CYCLE = [jobStep('s1', 'Cordon'), jobStep('s2', 'PowerCycle', { with: VIA })];
const FENCED = [
  jobStep('s1', 'Cordon'),
  jobStep('s2', 'PowerOff', { with: VIA }),
  jobStep('s3', 'OutOfServiceTaint'),
  jobStep('s4', 'PowerOn', { with: VIA }),
  jobStep('s5', 'WaitForBoot'),
];
const REBOOT = [
  jobStep('s1', 'Cordon'),
  jobStep('s2', 'Reboot', { with: { via: ['Agent', 'SysRq', 'BMC'] } }),
];

async function started(plan: readonly JobStep[], prepare: (bed: JobBed) => void = () => {}): Promise<JobBed> {
  const bed = createJobBed();
  bed.die();
  prepare(bed);
  bed.createJob({ plan, onVerified: [jobStep('v1', 'Uncordon')], verify: VERIFY });
  await bed.start();
  return bed;
}

function endOf({ host, power, job, node }: JobBed): object {
  const { offs, ons, isOn } = power.hostOf('m');
  return {
    power: `${offs} off, ${ons} on, ${isOn ? 'on' : 'off'}`,
    outcome: `${job()?.status?.outcome?.class}`,
    node: `${isCordoned(node()) ? 'cordoned' : 'open'}, ${taintKeys(node()).join() || 'no taints'}`,
    wrongs: host.wrongs,
  };
}

function stepOf(job: RemedyOperationJob | undefined, id: string): string {
  const { state, code = '', message = '' } = job?.status?.steps?.find((each) => each.id === id) ?? {};
  return `${state} ${code}: ${message}`;
}

function last(job: RemedyOperationJob | undefined): JobStepPower | undefined {
  return job && lastPower(job)?.power;
}

/** As the process before has written it, whose write the view does not have. */
function taintOut({ apply, node }: JobBed): void {
  const found = node();
  if (!found) return;
  const { apiVersion, kind, metadata, ...rest } = patchJson(
    found,
    planTaint(found, OUT_OF_SERVICE_TAINT, GRANT.id),
  ) as KubeObject;
  const { name, annotations = {} } = metadata;
  apply({ apiVersion, kind, metadata: { name, annotations }, spec: rest['spec'] });
}

/** A volume that is attached to the node. */
function attached(): KubeObject {
  const metadata = { name: 'csi-1' };
  return { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata, spec: { nodeName: 'm' } };
}

/** Reports the agent of a host that its switch still reads Off. */
function reportAgent({ apply, clock }: JobBed): void {
  const status = {
    conditions: [
      {
        type: 'AgentReady',
        status: 'True',
        reason: 'Reported',
        message: '',
        lastTransitionTime: clock.now().toISOString(),
      },
    ],
  };
  apply({ apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'm' }, status }, 'status');
}

const REPAIRED = {
  power: '1 off, 1 on, on',
  outcome: 'Succeeded',
  node: 'open, no taints',
  wrongs: [],
};

describe('a job that switches the power', () => {
  it.each<[name: string, plan: readonly JobStep[], prepare: (bed: JobBed) => void]>([
    ['cycles it once', CYCLE, () => {}],
    ['waits for power that changes late', CYCLE, ({ power }) => void (power.delayMs = 9000)],
    [
      'reads the state back when answers are lost',
      CYCLE,
      ({ power }) => void (power.faults.BMC = { lostAnswers: 3 }),
    ],
    [
      'takes the next way where there is no switch',
      CYCLE,
      ({ power }) => void (power.faults.BMC = { none: 'another host' }),
    ],
    [
      'takes the next way after a certain refusal',
      CYCLE,
      ({ power }) => void (power.faults.BMC = { refuses: 'Auth' }),
    ],
    ['waits for a node that boots late', CYCLE, ({ host }) => void (host.bootDelayMs = 20_000)],
    ['releases its pods only while it is off', FENCED, () => {}],
    ['releases its pods with power that changes late', FENCED, ({ power }) => void (power.delayMs = 7000)],
    ['goes on by the switch for a Reboot whose agent is silent', REBOOT, () => {}],
  ])('R31 never switches power twice: %s', async (_, plan, prepare) => {
    const bed = await started(plan, prepare);
    await bed.live(90);
    expect(endOf(bed)).toEqual(REPAIRED);
  });

  it('R31 names the switch that reads neither On nor Off, and requests nothing', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA, timeoutSeconds: 30 })];
    const bed = await started(plan, ({ power }) => void (power.faults.BMC = { alwaysReads: 'Unknown' }));
    await bed.live(60);
    expect(stepOf(bed.job(), 's1')).toBe(
      'Failed TimedOut: not done in 30 s: BMC reads Unknown: neither On nor Off',
    );
    expect(bed.power.requests).toEqual([]);
  });

  it('R31 tries no other way while the first may still act, and ends Ambiguous', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA, timeoutSeconds: 30 })];
    const bed = await started(plan, ({ power }) => void (power.faults.BMC = { isDeaf: true }));
    await bed.live(60);
    expect(stepOf(bed.job(), 's1')).toMatch(
      /^Ambiguous TimedOut: .*BMC has accepted Off at .*, and reads On$/,
    );
    expect(bed.power.requests).toEqual(['BMC Off m']);
    expect(bed.job()?.status?.outcome?.class).toBe('Ambiguous');
  });

  it('R31 fails for good when no way leads to a switch, and names each', async () => {
    const none = { none: 'Machine m has no such switch' };
    const bed = await started(
      CYCLE,
      ({ power }) => void Object.assign(power.faults, { BMC: none, Provider: none }),
    );
    await bed.live(20);
    expect(stepOf(bed.job(), 's2')).toBe(
      'Failed NoPowerSwitch: BMC of machine m: Machine m has no such switch; Provider of machine m: Machine m has no such switch',
    );
    expect(bed.job()?.status?.outcome?.class).toBe('Permanent');
  });

  it('R31 tries the next way when the first one does not answer for half of the time, and keeps both reasons', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA, timeoutSeconds: 40 })];
    const bed = await started(plan, ({ power }) => void (power.faults.BMC = { silent: 'Retryable' }));
    await bed.live(10);
    expect(bed.power.requests).toEqual([]);
    await bed.live(50);
    expect(bed.power.requests).toEqual(['Provider Off m', 'Provider On m']);
    expect(stepOf(bed.job(), 's1')).toMatch(
      /^Succeeded : the node has booted.*; BMC of machine m: the switch does not answer$|^Succeeded : Provider reads On; BMC of machine m: the switch does not answer$/,
    );
  });

  it('R31 gives a switch that falls silent a minute since On was requested, and then switches on by the next way', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA, timeoutSeconds: 600 })];
    const bed = await started(plan, ({ job, power, powerCalls }) => {
      power.delayMs = 70_000;
      powerCalls.called = () => {
        if (last(job())?.desired === 'On') power.faults.BMC = { silent: 'Retryable' };
      };
    });
    await bed.live(100);
    expect(last(bed.job())?.desired).toBe('On');
    expect(bed.power.requests).toEqual(['BMC Off m']);
    await bed.live(60);
    expect(bed.power.requests).toEqual(['BMC Off m', 'Provider On m']);
  });

  it('R31 names both ways when neither answers', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA, timeoutSeconds: 30 })];
    const silent = { silent: 'Retryable' } as const;
    const bed = await started(
      plan,
      ({ power }) => void Object.assign(power.faults, { BMC: silent, Provider: silent }),
    );
    await bed.live(40);
    expect(stepOf(bed.job(), 's1')).toBe(
      'Failed TimedOut: not done in 30 s: BMC of machine m: the switch does not answer; Provider of machine m: the switch does not answer',
    );
  });

  it('R33 never switches off a host that came back, also when a view does not know yet', async () => {
    const bed = await started(CYCLE, ({ job, powerCalls, comeBack }) => {
      powerCalls.called = (call) => {
        // The request is recorded: it is sent after this reading unless the job is judged again.
        const isIntended = job()?.status?.steps?.some(({ power }) => power?.intendedAt !== undefined);
        if (call === 'state BMC' && isIntended) comeBack();
      };
    });
    await bed.live(60);
    expect(bed.power.requests).toEqual([]);
    expect(bed.host.wrongs).toEqual([]);
    expect(bed.job()?.status?.outcome?.reason).toBe('BootChanged');
  });

  it('R33 switches nothing off without a grant, and goes on when it is given', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: VIA })];
    const bed = await started(plan, ({ host }) => void (host.renewal = 'denied'));
    await bed.live(30);
    expect(bed.power.requests).toEqual([]);
    bed.host.renewal = 'granted';
    await bed.live(90);
    expect(endOf(bed)).toEqual(REPAIRED);
  });

  it('R18 switches a machine on again although its grant is denied meanwhile', async () => {
    const bed = await started(CYCLE, ({ power }) => void (power.delayMs = 4000));
    for (let turn = 0; turn < 60 && bed.power.requests.length === 0; turn += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      await bed.live(0.5);
    }
    bed.host.renewal = 'denied';
    await bed.live(40);
    expect(bed.power.hostOf('m')).toMatchObject({ offs: 1, ons: 1, isOn: true });
  });

  it.each([
    [
      'the rule has cleared',
      (bed: JobBed) => void (bed.host.facts = () => ({ status: 'False', observedSeconds: 999 })),
    ],
    ['its deadline has passed', () => {}],
  ])('R34 never leaves a cycle half done: %s', async (_, disturb) => {
    const bed = createJobBed();
    bed.die();
    bed.power.delayMs = 6000;
    const deadline = new Date(bed.clock.now().getTime() + 12_000).toISOString();
    bed.createJob({ plan: CYCLE, onVerified: [], verify: VERIFY, deadline });
    await bed.start();
    await bed.live(8);
    expect(bed.power.requests).toContain('BMC Off m');
    disturb(bed);
    await bed.live(240);
    expect(bed.power.hostOf('m')).toMatchObject({ offs: 1, ons: 1, isOn: true });
    expect(bed.host.wrongs).toEqual([]);
  });

  it('R34 asks a person when the switch does not switch a machine on again', async () => {
    const plan = [jobStep('s1', 'PowerCycle', { with: { via: ['BMC'] }, timeoutSeconds: 20 })];
    const bed = await started(plan, ({ power, powerCalls }) => {
      powerCalls.called = (call) => {
        if (power.hostOf('m').offs > 0) throw new ProviderError('Retryable', `${call}: no answer`);
      };
    });
    await bed.live(60);
    expect(bed.job()?.status?.waiting?.reason).toBe('Power');
    await bed.live(900);
    const needsPerson = bed
      .get<Machine>(MACHINES, 'm')
      ?.status?.conditions.find(({ type }) => type === 'NeedsPerson');
    expect(needsPerson).toMatchObject({ status: 'True', reason: 'PowerUnknown' });
    expect(bed.host.settled).toEqual(['g-7-1 Failed']);
  });

  it.each<[name: string, state: PowerState, outcome: string]>([
    ['a switch that reads On', 'On', 'Failed MachineRuns: the switch reads On: the machine runs'],
    ['a switch that reads Unknown', 'Unknown', 'Failed TimedOut: not done in 30 s: the switch reads Unknown'],
  ])('R35 releases no pods by %s, which read Off before', async (_, state, outcome) => {
    const plan = [
      jobStep('s1', 'PowerOff', { with: { via: ['BMC'] } }),
      jobStep('s2', 'OutOfServiceTaint', { timeoutSeconds: 30 }),
    ];
    const bed = await started(plan, ({ job, power, powerCalls }) => {
      powerCalls.called = () => {
        if (stepOf(job(), 's1').startsWith('Succeeded')) power.faults.BMC = { alwaysReads: state };
      };
    });
    await bed.live(45);
    expect(stepOf(bed.job(), 's2')).toBe(outcome);
    expect(taintKeys(bed.node())).toEqual([]);
  });

  it('R35 releases no pods of a host that shows life, whatever its switch reads', async () => {
    const plan = [
      jobStep('s1', 'PowerOff', { with: { via: ['BMC'] } }),
      jobStep('s2', 'OutOfServiceTaint', { timeoutSeconds: 30 }),
    ];
    const bed = createJobBed();
    bed.power.faults.BMC = { alwaysReads: 'Off' };
    bed.createJob({ plan, onVerified: [], verify: VERIFY });
    bed.comeBack();
    bed.host.facts = () => ({});
    bed.createJob({ plan, onVerified: [], verify: VERIFY });
    await bed.live(1);
    await bed.start();
    await bed.live(20);
    expect(taintKeys(bed.node())).toEqual([]);
    expect(bed.host.wrongs).toEqual([]);
  });

  it('R35 ends the step when the pods are deleted and the volumes detached, and names them until then', async () => {
    const bed = await started(FENCED, ({ apply }) => {
      apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'db', namespace: 'shop' },
        spec: { nodeName: 'm' },
      });
      apply(attached());
    });
    await bed.live(30);
    expect(taintKeys(bed.node())).toContain('node.kubernetes.io/out-of-service');
    expect(bed.job()?.status?.waiting).toMatchObject({
      reason: 'Releasing',
      message: 'the node still has 1 pods (shop/db) and 1 attached volumes (csi-1)',
    });
    bed.api.objects.delete({ resource: PODS }, { name: 'db', namespace: 'shop' });
    await bed.live(10);
    expect(bed.job()?.status?.waiting?.message).toBe('the node still has 1 attached volumes (csi-1)');
    expect(bed.power.requests).toEqual(['BMC Off m']);
    bed.delete(VOLUME_ATTACHMENTS, 'csi-1');
    await bed.live(60);
    expect(endOf(bed)).toEqual(REPAIRED);
  });

  it('R35 fails with what it waited for, and returns the machine without the taint', async () => {
    const bed = await started(
      FENCED.map((step) => (step.id === 's3' ? { ...step, timeoutSeconds: 20 } : step)),
      ({ apply }) => apply(attached()),
    );
    await bed.live(90);
    expect(stepOf(bed.job(), 's3')).toBe(
      'Failed TimedOut: not done in 20 s: the node still has 1 attached volumes (csi-1)',
    );
    expect(bed.power.hostOf('m')).toMatchObject({ offs: 1, ons: 1, isOn: true });
    expect(taintKeys(bed.node())).not.toContain('node.kubernetes.io/out-of-service');
    expect(bed.host.wrongs).toEqual([]);
  });

  it('R35 switches a machine on again by the next way when the switch that turned it off falls silent', async () => {
    const bed = await started(
      FENCED.map((step) => (step.id === 's3' ? { ...step, timeoutSeconds: 20 } : step)),
      ({ apply }) => apply(attached()),
    );
    await bed.live(10);
    bed.power.faults.BMC = { silent: 'Retryable' };
    await bed.live(60);
    expect(bed.power.requests).toEqual(['BMC Off m', 'Provider On m']);
    expect(bed.power.hostOf('m').isOn).toBe(true);
    expect(bed.host.wrongs).toEqual([]);
  });

  it('R35 takes the taint back when the switch reads On while volumes are released', async () => {
    const bed = await started(FENCED, ({ apply, host, power, powerCalls, job }) => {
      host.bootDelayMs = 600_000;
      apply(attached());
      powerCalls.called = () => {
        if (job()?.status?.waiting?.reason === 'Releasing') power.faults.BMC = { alwaysReads: 'On' };
      };
    });
    await bed.live(30);
    expect(stepOf(bed.job(), 's3')).toBe('Failed MachineRuns: the switch reads On: the machine runs');
    expect(taintKeys(bed.node())).not.toContain('node.kubernetes.io/out-of-service');
  });

  it.each<[name: string, shown: (bed: JobBed) => void, outcome: RegExp]>([
    [
      'its switch reads On',
      ({ power }) => void (power.faults.BMC = { alwaysReads: 'On' }),
      /^Failed MachineRuns/,
    ],
    ['its agent reports, whatever its switch reads', reportAgent, /^Running : $/],
  ])('R35 returns a machine to service before anything else when %s', async (_, shown, outcome) => {
    const bed = await started(FENCED, ({ apply }) => {
      apply(attached());
    });
    await bed.live(10);
    expect(taintKeys(bed.node())).toContain('node.kubernetes.io/out-of-service');
    shown(bed);
    let atEnd: readonly string[] | undefined;
    for (let left = 20; left > 0 && !atEnd; left -= 1) {
      await bed.live(0.5); // oxlint-disable-line no-await-in-loop -- one turn after the other
      if (bed.job()?.status?.waiting?.reason !== 'Releasing') atEnd = taintKeys(bed.node());
    }
    expect(atEnd).not.toContain('node.kubernetes.io/out-of-service');
    expect(stepOf(bed.job(), 's3')).toMatch(outcome);
  });

  it('R35 switches no machine on with a taint that its view does not have yet', async () => {
    let isTainted = false;
    const plan = FENCED.filter(({ id }) => id !== 's3');
    const bed = await started(plan, (prepared) => {
      const { job, powerCalls } = prepared;
      powerCalls.called = (call) => {
        if (isTainted || !call.startsWith('state') || last(job())?.desired !== 'On') return;
        isTainted = true;
        taintOut(prepared);
      };
    });
    await bed.live(60);
    expect(isTainted).toBe(true);
    expect(endOf(bed)).toEqual(REPAIRED);
  });

  it('R35 returns a machine to service that a person has switched on, before its node reports a boot', async () => {
    const bed = await started(FENCED, (prepared) => {
      const { host, power, powerCalls, job } = prepared;
      host.bootDelayMs = 600_000;
      powerCalls.called = () => {
        if (!stepOf(job(), 's3').startsWith('Succeeded')) return;
        power.hostOf('m').change ??= { desired: 'On', atMs: 0 };
      };
    });
    await bed.live(30);
    expect(stepOf(bed.job(), 's4')).toBe('Succeeded : BMC reads On');
    expect(bed.power.requests).toEqual(['BMC Off m']);
    expect(taintKeys(bed.node())).toEqual([]);
  });

  it('R33 leaves the switch alone until a release of the agent has ended', async () => {
    const bed = createJobBed();
    bed.host.isAgentSilent = true;
    bed.createJob({ plan: REBOOT, onVerified: [], verify: VERIFY });
    await bed.start();
    await bed.live(2);
    const notAfter = Date.parse(bed.job()?.status?.release?.notAfter ?? '');
    bed.die();
    await bed.live(1);
    expect(bed.job()?.status?.release).toBeUndefined();
    const at: number[] = [];
    bed.powerCalls.called = () => void at.push(bed.clock.now().getTime());
    await bed.live(120);
    expect(bed.power.requests).toEqual(['BMC Off m', 'BMC On m']);
    expect(Math.min(...at)).toBeGreaterThanOrEqual(notAfter + 30_000);
  });
});

const SWEPT: Readonly<Record<string, readonly JobStep[]>> = { cycle: CYCLE, fenced: FENCED, reboot: REBOOT };

describe('a job that switches the power, whose controller crashes or whose switch fails', () => {
  it.each(Object.entries(SWEPT))('R30 R31 ends as without the crash at any write: %s', async (_, plan) => {
    const { first, step } = stride(3);
    let isCrashed = true;
    let most = 0;
    for (let n = first; isCrashed; n += step) {
      isCrashed = false;
      for (const when of ['before', 'after'] as const) {
        const bed = createJobBed();
        bed.die();
        bed.power.delayMs = 1500;
        bed.createJob({ plan, onVerified: [jobStep('v1', 'Uncordon')], verify: VERIFY });
        // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
        const process = await bed.start({ n, when });
        await bed.live(60); // oxlint-disable-line no-await-in-loop
        if (process.crashed) {
          isCrashed = true;
          most = n;
          await process.kill(); // oxlint-disable-line no-await-in-loop
          await bed.start(); // oxlint-disable-line no-await-in-loop
          await bed.live(60); // oxlint-disable-line no-await-in-loop
        }
        expect([`${when} write ${n}`, endOf(bed)]).toEqual([`${when} write ${n}`, REPAIRED]);
      }
    }
    expect(most).toBeGreaterThan(6);
  });

  it.each(Object.entries(SWEPT))(
    'R31 ends the same when any call of the switch fails: %s',
    async (_, plan) => {
      let calls = Infinity;
      for (let n = 1; n <= calls; n += 1) {
        let count = 0;
        // oxlint-disable-next-line no-await-in-loop -- one scenario after the other
        const bed = await started(plan, ({ powerCalls }) => {
          powerCalls.called = () => {
            count += 1;
            if (count === n) throw new ProviderError(n % 2 === 0 ? 'Retryable' : 'Ambiguous', 'no answer');
          };
        });
        await bed.live(90); // oxlint-disable-line no-await-in-loop
        expect([n, endOf(bed)]).toEqual([n, REPAIRED]);
        calls = count;
      }
      expect(calls).toBeGreaterThan(6);
    },
  );
});
