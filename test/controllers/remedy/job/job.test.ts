import { describe, expect, it } from 'vitest';
import { grantFromEntry } from '../../../../src/api/grants.ts';
import { validate } from '../../../../src/api/validation/validate.ts';
import { evidenceOf } from '../../../../src/controllers/remedy/job/evidence.ts';
import { askFor, jobIntent } from '../../../../src/controllers/remedy/job/job.ts';
import type { RemedyAct } from '../../../../src/controllers/remedy/plan.ts';
import { behaviorDigest } from '../../../../src/rollout/rule-waves/rule-digest.ts';
import { compileRule } from '../../../../src/rules/compile.ts';
import type { FactReader } from '../../../../src/rules/compiled-rule.ts';
import { machine, NOW } from '../../../support/builders.ts';
import { remedier } from '../../../support/remediers.ts';

const RULE = remedier({}, { annotations: { 'kubenode.dev/commit': '4f2c9e1a77b0' } });
const DIGEST = `sha256:${'a'.repeat(64)}`;

function act(index: number): RemedyAct {
  const rung = RULE.spec.ladder[index - 1];
  if (!rung) throw new Error('no such rung');
  return {
    remedier: RULE,
    digest: DIGEST,
    commit: '4f2c9e1a77b0',
    case: '7c1f02ab',
    since: new Date(+NOW - 3500),
    isSinceKnown: true,
    detectedAt: new Date(+NOW - 400),
    node: { uid: 'node-uid-1', bootID: 'boot-1', providerID: 'local://m-1' },
    jobName: `m-1-kernel-hang-7c1f02ab-r${index}-a1`,
    rung,
    index,
    attempt: 1,
  };
}

function jobOf(index: number): ReturnType<typeof jobIntent> {
  const { holder, action, risk } = askFor(act(index), 'm-1', NOW);
  const times = { issuedAt: '2026-11-20T07:00:05Z', notAfter: '2026-11-20T07:05:05Z' };
  const grant = grantFromEntry('m-1', {
    id: 'g-1',
    fence: 7,
    state: 'Granted',
    holder,
    action,
    risk,
    ...times,
  });
  const labels = { 'kubenode.dev/hardware': '9f31c2d4' };
  return jobIntent({
    act: act(index),
    machine: machine('m-1', { metadata: { labels } }),
    grant,
    evidence: [],
  });
}

describe('a job', () => {
  it('is valid, and carries rule, commit, case, grant and steps', () => {
    const job = jobOf(1);
    const problems = validate({ apiVersion: 'kubenode.dev/v1alpha1', kind: 'RemedyOperationJob', ...job });
    expect(problems).toEqual([]);
    expect(job.metadata).toEqual({
      name: 'm-1-kernel-hang-7c1f02ab-r1-a1',
      labels: {
        'app.kubernetes.io/managed-by': 'kubenode',
        'kubenode.dev/machine': 'm-1',
        'kubenode.dev/remedier': 'kernel-hang',
        'kubenode.dev/case': '7c1f02ab',
        'kubenode.dev/hardware': '9f31c2d4',
      },
      finalizers: ['kubenode.dev/settle'],
    });
    expect(job.spec).toMatchObject({
      cause: { remedier: 'kernel-hang', commit: '4f2c9e1a77b0', ruleDigest: DIGEST, case: '7c1f02ab' },
      rung: { name: 'soft', index: 1 },
      attempt: 1,
      group: 'kernel-hang',
      risk: 'Node',
      grant: { id: 'g-1', fence: 7, issuedAt: '2026-11-20T07:00:05Z', notAfter: '2026-11-20T07:05:05Z' },
      operationID: '7c1f02ab-r1-a1',
      deadline: '2026-11-20T09:00:05Z',
      settle: { aborted: 'KeepCordoned', holdSeconds: 14_400 },
    });
  });

  it('has its steps with version, executor, risk, undo and the limits of the rule', () => {
    const { plan, onVerified, verify } = jobOf(1).spec ?? {};
    const lines = [...(plan ?? []), ...(onVerified ?? [])].map((step) =>
      [step?.id, step?.step, step?.executor, step?.risk, step?.undo, step?.onFailure].join(' '),
    );
    expect(lines).toEqual([
      's1 CollectDiagnostics@v1 Agent None  Continue',
      's2 Cordon@v1 Central Pod Uncordon@v1 Fail',
      's3 Drain@v1 Central Pod  Fail',
      's4 Reboot@v1 Agent Node  Fail',
      's5 WaitForBoot@v1 Central None  Fail',
      'v1 Uncordon@v1 Central None  Fail',
    ]);
    expect(verify).toEqual(RULE.spec.ladder[0]?.verify);
  });

  it('asks for the first step with the highest risk, in the name of the job, the rule and its commit', () => {
    expect(askFor(act(1), 'm-1', NOW)).toEqual({
      holder: {
        kind: 'RemedyOperationJob',
        name: 'm-1-kernel-hang-7c1f02ab-r1-a1',
        origin: 'NodeRemedier/kernel-hang',
        revision: '4f2c9e1a77b0',
      },
      machine: 'm-1',
      nodeUID: 'node-uid-1',
      action: 'Reboot',
      risk: 'Node',
      ruleDigest: behaviorDigest(RULE),
      faultClass: 'Kernel',
      factsAt: NOW,
      expectedSeconds: 1500,
    });
    expect(askFor(act(2), 'm-1', NOW)).toMatchObject({ action: 'HandOff', risk: 'None' });
  });
});

const CONDITIONS: FactReader = ({ fact }) => (fact === 'condition' ? { status: 'True' } : {});
const LARGE: FactReader = ({ fact }) => ({ text: fact === 'event' ? 'x'.repeat(9000) : 'x'.repeat(3000) });

describe('the evidence of a job', () => {
  const { rule: compiled } = compileRule(RULE.spec);
  if (!compiled) throw new Error('the rule does not compile');

  it('is what its rule read and knew, with the time', () => {
    expect(evidenceOf([{ compiled, facts: CONDITIONS }], NOW)).toEqual([
      {
        fact: 'condition',
        params: { type: 'FrequentTaskHung' },
        value: { status: 'True' },
        at: '2030-01-01T12:00:00Z',
      },
      { fact: 'condition', params: { type: 'Ready' }, value: { status: 'True' }, at: '2030-01-01T12:00:00Z' },
    ]);
  });

  it('fits into 8 KiB, and into 16 entries', () => {
    const found = evidenceOf([{ compiled, facts: LARGE }], NOW);
    expect(found.map(({ fact }) => fact)).toEqual(['condition', 'condition']);
    const many = Array.from({ length: 20 }, (_, index) => ({
      compiled: { reads: [{ fact: 'event', params: { reason: `R${index}` }, key: `R${index}` }] },
      facts: () => ({ count: 1 }),
    }));
    expect(evidenceOf(many, NOW)).toHaveLength(16);
  });
});
